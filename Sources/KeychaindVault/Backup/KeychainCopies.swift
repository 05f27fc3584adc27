import Glibc
import KeychaindLog
package import KeychaindModel

/// A past state of a keychain that can be restored.
package struct StoredCopy: Sendable {
    package enum Kind: String, Sendable {
        case generation
        case backup
    }

    package let kind: Kind

    /// The file name in its folder, such as `login.20260503.keychain`; of a past state in the keychain's own file, the
    /// name and the number of the last change, such as `login@42`.
    package let file: String

    package let label: String

    /// The last change that it has.
    package let modified: Timestamp

    package let itemCount: Int

    package var id: String { "\(kind.rawValue):\(file)" }
}

/// The past states of the keychains, their past files, and the backups in the user's folder.
struct KeychainCopies: Sendable {
    /// The most generations, and the most backups, of a keychain that the vault has or misses: more than it makes.
    private static let limitOfEach = 8
    /// The most copies of all other keychains together; a user's folder may have any number of files.
    private static let limitOfOthers = 256

    private struct Source: Hashable {
        let kind: StoredCopy.Kind
        let keychain: Substring
    }

    /// The keychains that the vault has or misses, with the keys of those that were unlocked.
    private let keychains: [Substring: CollectionKeys?]
    private let folder: Folder
    private let backups: BackupFolder?
    private let configuration: VaultConfiguration

    init(
        of keychains: [CollectionName: CollectionKeys?],
        in folder: Folder,
        _ backups: BackupFolder?,
        _ configuration: VaultConfiguration
    ) {
        self.keychains = Dictionary(uniqueKeysWithValues: keychains.map { name, keys in (name.encoded[...], keys) })
        self.folder = folder
        self.backups = backups
        self.configuration = configuration
    }

    /// The readable copies, newest last; blocks, since each file is copied and checked.
    func all() throws(VaultError) -> [StoredCopy] {
        var copies = pastStates()
        for (kind, file) in try listedFiles() {
            guard let staged = try? stage(open(kind, file), CopyStop()) else { continue }
            copies.append(
                StoredCopy(
                    kind: kind,
                    file: file,
                    label: staged.label,
                    modified: staged.modified,
                    itemCount: staged.itemCount
                )
            )
        }
        return copies.sorted { first, second in
            (first.modified, first.id) < (second.modified, second.id)
        }
    }

    /// The identifiers of all copies, readable or not.
    func ids() throws(VaultError) -> [String] {
        try pastStates().map(\.id) + listedFiles().map { copy in "\(copy.kind.rawValue):\(copy.file)" }
    }

    /// The states that the keychains' own files have.
    private func pastStates() -> [StoredCopy] {
        var states: [StoredCopy] = []
        for name in keychains.keys {
            guard let log = try? log(of: name), let past = try? log.pastStates(atMost: configuration.generations) else {
                continue
            }
            for state in past {
                let count = try? log.records.state(at: state.sequence).ids.count { id in id.item != nil }
                states.append(
                    StoredCopy(
                        kind: .generation,
                        file: "\(name)@\(state.sequence)",
                        label: state.label,
                        modified: state.modified,
                        itemCount: count ?? 0
                    )
                )
            }
        }
        return states
    }

    private func log(of name: Substring) throws(VaultError) -> CollectionLog {
        try CollectionLog(folder.file(name + CollectionFormat.suffix), readOnly: true, configuration)
    }

    /// Stages a copy; throws `unreadable` if there is none with this identifier, and `locked` for a past state in the
    /// file of a keychain that was not unlocked since the start.
    func stage(_ id: String, _ stop: CopyStop = CopyStop()) throws(VaultError) -> StagedBackup {
        guard let state = pastStates().first(where: { state in state.id == id }) else {
            return try stage(open(id), stop)
        }
        let parts = state.file.split(separator: "@")
        guard let keys = keychains[parts[0]] ?? nil, let sequence = UInt64(parts[1]) else {
            throw VaultError(.locked, reason: "the keychain must be unlocked to read its past")
        }
        return try StagedBackup(of: sequence, in: log(of: parts[0]), keys, to: folder, configuration)
    }

    private func stage(_ file: consuming OpenedFile, _ stop: CopyStop) throws(VaultError) -> StagedBackup {
        try StagedBackup(copying: file, to: folder, configuration, stop)
    }

    private func open(_ id: String) throws(VaultError) -> OpenedFile {
        let parts = id.split(separator: ":", maxSplits: 1).map(String.init)
        // Only listed names: an identifier is no path.
        guard parts.count == 2, let kind = StoredCopy.Kind(rawValue: parts[0]),
            try files().contains(where: { other in other.kind == kind && other.file == parts[1] })
        else { throw VaultError(.unreadable, reason: "there is no such copy") }
        return try open(kind, parts[1])
    }

    /// Those that are looked at: neither copies of deleted keychains nor other files in the backup folder push out the
    /// generations of a keychain and its newest backup.
    private func listedFiles() throws(VaultError) -> [(kind: StoredCopy.Kind, file: String)] {
        var counts: [Source: Int] = [:]
        var others = 0
        return try files().sorted(by: Self.isBefore).filter { copy in
            let source = Source(kind: copy.kind, keychain: copy.file.prefix { character in character != "." })
            if keychains[source.keychain] != nil {
                counts[source, default: 0] += 1
                return counts[source, default: 0] <= Self.limitOfEach
            }
            others += 1
            return others <= Self.limitOfOthers
        }
    }

    /// The newest first: past files end with a time, backups with a day, but the newest with nothing.
    private static func isBefore(
        _ first: (kind: StoredCopy.Kind, file: String),
        _ second: (kind: StoredCopy.Kind, file: String)
    ) -> Bool {
        guard first.kind == second.kind else { return first.kind == .generation }
        let (length, other) = (first.file.utf8.count, second.file.utf8.count)
        if first.kind == .backup, length != other { return length < other }
        return first.file > second.file
    }

    private func files() throws(VaultError) -> [(kind: StoredCopy.Kind, file: String)] {
        var files: [(kind: StoredCopy.Kind, file: String)] = []
        for file in try folder.names() where PastFiles.name(of: file) != nil { files.append((.generation, file)) }
        if let backups, let opened = try UserFolder.open(backups.path, followingLinks: true) {
            for file in try opened.names() where Self.isKeychain(file) { files.append((.backup, file)) }
        }
        return files
    }

    private func open(_ kind: StoredCopy.Kind, _ file: String) throws(VaultError) -> OpenedFile {
        switch kind {
        case .generation:
            return try OpenedFile(folder.file(file), flags: O_RDONLY)
        case .backup:
            guard let backups, let opened = try UserFolder.open(backups.path, followingLinks: true) else {
                throw VaultError(.unreadable, reason: "there is no such copy")
            }
            return try opened.read(file, maximumSize: configuration.limits.copyBytes)
        }
    }

    private static func isKeychain(_ file: String) -> Bool {
        file.hasSuffix(CollectionFormat.suffix) && !file.hasPrefix(".")
    }
}

extension Vault {
    func keychainCopies(in context: VaultContext, _ backups: BackupFolder?) -> KeychainCopies {
        var keychains: [CollectionName: CollectionKeys?] = [:]
        for collection in collections { keychains[collection.name] = .some(collection.keys) }
        return KeychainCopies(of: keychains, in: context.folder, backups, context.configuration)
    }

    /// The past states and backups that can be restored, oldest first.
    package func copies(_ backups: BackupFolder?) async throws(VaultError) -> [StoredCopy] {
        guard let context else { throw VaultError.vaultClosed }
        let copies = keychainCopies(in: context, backups)
        let worker = try Worker("copies", (), pool: .foreignFiles)
        return try await worker.perform { (_) throws(VaultError) in try copies.all() }
    }

    /// Stages a copy for a restore; throws `unreadable` if there is none, `limitExceeded` and disk errors.
    package func stage(
        copy id: String,
        _ backups: BackupFolder?,
        _ stop: CopyStop = CopyStop()
    ) async throws(VaultError) -> StagedBackup {
        guard let context else { throw VaultError.vaultClosed }
        let copies = keychainCopies(in: context, backups)
        let worker = try Worker("restore", (), pool: .foreignFiles)
        return try await worker.perform { (_) throws(VaultError) in try copies.stage(id, stop) }
    }
}
