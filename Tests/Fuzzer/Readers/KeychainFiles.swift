import Foundation
import Glibc
import KeychaindGcrypt
import KeychaindLog
import KeychaindModel
import Logging

@testable import KeychaindVault

/// Files of the vault with any bytes, read as at a start; their seeds are sound ones.
///
/// Logs get valid marks, which any program that can read a file can make. The password of the seeds is `correct horse`.
extension FuzzReader {
    static let keychainFiles = [
        FuzzReader("keychain") { bytes in
            try withMarks(bytes.copied).withUnsafeBytes { bytes in
                try withFolder(["login.keychain": bytes]) { folder in try readKeychain(in: folder) }
            }
        },
        FuzzReader("state") { bytes in
            try withMarks(bytes.copied).withUnsafeBytes { bytes in
                try withFolder([StateFile.name: bytes]) { folder in try readState(in: folder, sum(bytes)) }
            }
        },
        FuzzReader("state-records") { bytes in
            try withFolder([:]) { folder in
                try makeState(bytes, in: folder)
                try readState(in: folder, sum(bytes))
            }
        },
        FuzzReader("rules-file") { bytes in
            try withFolder([RulesFile.name: bytes]) { folder in _ = RulesFile.load(from: folder) }
        },
        FuzzReader("move-record") { bytes in
            try withFolder([MoveRecord.name: bytes]) { folder in _ = try MoveRecord.load(from: folder) }
        },
    ]

    /// Reads a file as a start, an unlock, a check and a salvage do.
    private static func readKeychain(in folder: Folder) throws {
        let (path, configuration) = (folder.file("login.keychain"), configuration(folder))
        let log = try CollectionLog(path, readOnly: true, configuration)
        _ = try log.lockedItems(tagsAreStale: false)
        _ = try log.pastStates(atMost: 3)
        let header = try log.header()
        guard let keys = try keys(of: header) else { throw Refusal() }
        let checkKeys = CheckKeys(collection: keys.collection, secrets: keys.secrets)
        let contents = try load(log, keys)
        let report = try CollectionLog.check(path, configuration, keys: checkKeys)
        promise(contents.isWhole || !report.isSound, "a file that passes the check is whole")
        for id in contents.table.ids {
            guard let item = contents.table[id], item.condition == .intact, let secret = item.sealedSecret else {
                continue
            }
            _ = try? keys.secrets.open(secret, item: id.rawValue, revision: item.metadata.secretRevision)
        }
        let salvage = Salvage(table: contents.table, state: contents.state, indexKey: try indexKey(), header: header)
        let writer = try CollectionLog(path, configuration)
        var (rewriting, salvaged) = try salvage.plan(writer, checkKeys)
        rewriting.isSalvage = true
        try writer.records.rewrite(rewriting, keys.collection.log)
        promise(salvaged.kept + salvaged.damaged == contents.table.count, "a salvage accounts for each item")
        let after = try CollectionLog.check(path, configuration, keys: checkKeys)
        promise(after.isSound && after.intact == salvaged.kept, "what is salvaged is sound")
    }

    private static func load(_ log: CollectionLog, _ keys: UnlockedKeys) throws -> LoadedContents {
        try log.load(keys.collection, into: nil, indexKey: nil, residentSecretBytes: 1 << 16)
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt8 { bytes.reduce(0) { sum, byte in sum &+ byte } }

    private static func readState(in folder: Folder, _ sum: UInt8) throws {
        let isDamaged = try read(StateFile(in: folder, configuration(folder)))
        // A start reads a damaged file three times, with pauses: for one in 64 such files.
        guard !isDamaged || sum.isMultiple(of: 64) else { return }
        let file = try StateFile.open(in: folder, configuration(folder)).file.get()
        try file.setAlias("default", to: "login")
        try file.rest()
        let again = try StateFile(in: folder, configuration(folder))
        promise(again.contents.aliases == file.contents.aliases, "what is stored is read again")
        promise(!again.isDamaged, "what was damaged is left out")
    }

    /// Whether the file is damaged.
    private static func read(_ file: StateFile) throws -> Bool {
        let lockouts = file.contents.lockouts
        for owner in lockouts.records.keys { _ = lockouts[owner] }
        _ = file.toldCause(of: "login")
        _ = file.ledger(of: identifier)
        _ = file.lastChange(of: identifier)
        try file.forEachAudit { _, entry in
            _ = AuditEntry(decoding: entry)
            return true
        }
        return file.isDamaged
    }

    /// Makes a file of records, each of kind (1), number (1), length (2) and an open part; anyone can seal them.
    private static func makeState(_ bytes: UnsafeRawBufferPointer, in folder: Folder) throws {
        let key = LogKey(try SealingKey(SecureBytes(count: KeyPurpose.keySize)))
        var changes: [RecordID: RecordChange] = [:]
        var reader = FieldReader(bytes)
        while let kind = reader.integer(UInt8.self), let number = reader.integer(UInt8.self),
            let open = reader.integer(UInt16.self).flatMap({ length in reader.bytes(Int(length)) })
        {
            guard let id = RecordID(kind: kind, number: UInt64(number)) else { continue }
            changes[id] = RecordChange(id, RecordContent(open: Array(open), secret: Array(open)))
        }
        guard changes.count < 1000 else { throw Refusal() }
        _ = try RecordLog.create(
            folder.file(StateFile.name),
            application: 0x4b43_4853,
            uuid: identifier,
            Array(changes.values),
            key,
            limits: logLimits
        )
    }

    static func configuration(_ folder: Folder) -> VaultConfiguration {
        var configuration = VaultConfiguration(directory: folder.path, logger: silent)
        configuration.logLimits = logLimits
        return configuration
    }

    private static func indexKey() throws -> BlindIndexKey {
        try BlindIndexKey(SecureBytes(copying: [UInt8](repeating: 3, count: BlindIndexKey.size)))
    }

    private static func keys(of header: CollectionHeader) throws -> UnlockedKeys? {
        let password = try SecureBytes(copying: Array("correct horse".utf8))
        // A derivation with large costs is no finding, and takes seconds.
        var header = header
        header.slots.removeAll { slot in slot.kind == 1 && !slot.parameters.starts(with: [0, 0, 0, 64, 0, 0, 0, 1]) }
        guard let opened = try header.open(with: password) else { return nil }
        return try UnlockedKeys(master: opened.master, collection: header.identifier)
    }

    static let silent = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }

    /// Calls `body` with a folder in memory that has these files and is removed afterwards.
    static func withFolder(
        _ files: [String: UnsafeRawBufferPointer],
        _ body: (Folder) throws -> Void
    ) throws {
        var template = Array("/dev/shm/keychaind-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = Folder(path)
        for (name, bytes) in files {
            let file = open(folder.file(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
            _ = write(file, bytes.baseAddress, bytes.count)
            close(file)
        }
        try body(folder)
    }
}
