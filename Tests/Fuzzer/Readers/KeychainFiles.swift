import Foundation
import Glibc
import KeychaindGcrypt
import KeychaindModel
import Logging

@testable import KeychaindVault

/// Files of the vault with any bytes, read as at a start; their seeds are sound ones.
///
/// The password of the seeds is `correct horse`.
extension FuzzReader {
    static let keychainFiles = [
        FuzzReader("keychain-pages") { bytes in
            try withFolder(["login.keychain": bytes]) { folder in try readPages(in: folder) }
        },
        FuzzReader("keychain-journal") { bytes in
            // Four pages of a file, then its journal.
            let file = UnsafeRawBufferPointer(rebasing: bytes.prefix(4 * 4096))
            let journal = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(4 * 4096))
            try withFolder(["login.keychain": file, "login.keychain-wal": journal]) { folder in
                try readPages(in: folder)
            }
        },
        FuzzReader("keychain") { bytes in
            try withFolder(["login.keychain": bytes]) { folder in
                let (keys, isWhole) = try readFile(in: folder)
                promise(try isWhole || !check(folder, keys).isSound, "a file that passes the check is whole")
            }
        },
        FuzzReader("state") { bytes in
            try withFolder([StateFile.name: bytes]) { folder in
                // A start reads a damaged file three times, keeps it and makes a new one: for one in 64 such files.
                let sum: UInt8 = bytes.reduce(0) { sum, byte in sum &+ byte }
                if !sum.isMultiple(of: 64) { try StateFile.foldJournal(in: folder) }
                let opened = StateFile.open(in: folder, logger: silent)
                let file = try opened.file.get()
                for owner in opened.contents.lockouts.records.keys { _ = opened.contents.lockouts[owner] }
                _ = try file.toldCause(of: "login")
                _ = try file.ledger(of: identifier)
                try file.forEachAudit { _, row in
                    _ = AuditEntry(decoding: row)
                    return true
                }
                try file.setAlias("default", to: "login")
                try file.finish()
            }
        },
        FuzzReader("rules-file") { bytes in
            try withFolder([RulesFile.name: bytes]) { folder in _ = RulesFile.load(from: folder) }
        },
        FuzzReader("move-record") { bytes in
            try withFolder([MoveRecord.name: bytes]) { folder in _ = try MoveRecord.load(from: folder) }
        },
    ]

    /// Reads a file as an unlock does, and closes it.
    private static func readFile(in folder: Folder) throws -> (keys: UnlockedKeys, isWhole: Bool) {
        let file = try CollectionFile("login.keychain", in: folder, limits: VaultLimits(), maximumPages: nil)
        let header = try file.header()
        try file.forEachTags { _, _, tags in _ = Array(StoredTags(tags)) }
        guard let keys = try keys(of: header) else { throw Refusal() }
        let isWhole = try load(file, keys)
        _ = try file.structuralDamage()
        try file.finish(isSound: true)
        return (keys, isWhole)
    }

    private static func readPages(in folder: Folder) throws {
        let remains = try FileRemains(of: "login.keychain", in: folder)
        remains.forEachTags { _, _, tags in _ = Array(StoredTags(tags)) }
        var isOpened = false
        for identifier in remains.identifiers + [identifier] {
            guard let header = try remains.header(identifier: identifier), let keys = try keys(of: header) else {
                continue
            }
            isOpened = true
            _ = try load(remains, keys)
            let salvage = Salvage(
                name: .login,
                folder: folder,
                limits: VaultLimits(),
                keys: CheckKeys(collection: keys.collection, secrets: keys.secrets),
                memory: nil
            )
            let report = try salvage.makeFile(header: header, state: emptyState)
            promise(report.kept + report.damaged == remains.itemCount, "a salvage accounts for each item")
            promise(
                try FileCheck.run(folder.file(CollectionName.login.unfinishedFileName), .exclusive, keys: salvage.keys)
                    .isSound,
                "what is salvaged is sound"
            )
        }
        guard isOpened else { throw Refusal() }
    }

    private static let emptyState = CollectionState(
        created: Timestamp(seconds: 0),
        modified: Timestamp(seconds: 0),
        label: ""
    )

    private static func keys(of header: CollectionHeader) throws -> UnlockedKeys? {
        let password = try SecureBytes(copying: Array("correct horse".utf8))
        // A derivation with large costs is no finding, and takes seconds.
        var header = header
        header.slots.removeAll { slot in slot.kind == 1 && !slot.parameters.starts(with: [0, 0, 0, 64, 0, 0, 0, 1]) }
        guard let opened = try header.open(with: password) else { return nil }
        return try UnlockedKeys(master: opened.master, collection: header.identifier)
    }

    /// Whether the rows match the sealed state.
    private static func load(_ file: some CollectionSource, _ keys: UnlockedKeys) throws -> Bool {
        var loader = try CollectionLoader(
            into: ItemTable(),
            keys: keys.collection,
            indexKey: nil,
            residentSecretBytes: 1 << 16
        )
        let contents = try loader.load(from: file)
        for id in contents.table.ids {
            guard let item = contents.table.item(id), item.condition == .intact else { continue }
            _ = try? keys.secrets.open(
                file.secret(of: id)[...],
                item: id.rawValue,
                revision: contents.table.sealedSecret(of: id)?.revision ?? 0
            )
        }
        return contents.isWhole
    }

    private static func check(_ folder: Folder, _ keys: UnlockedKeys) throws -> FileReport {
        try FileCheck.run(
            folder.file("login.keychain"),
            .exclusive,
            keys: CheckKeys(collection: keys.collection, secrets: keys.secrets)
        )
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
