import Glibc
package import KeychaindModel

/// A past state of a keychain that can be restored.
package struct KeychainCopy: Sendable {
    package enum Kind: String, Sendable {
        case generation
        case backup
    }

    package let kind: Kind

    /// The file name in its folder, such as `login.000012-20260503T120000Z.keychain`.
    package let file: String

    package let label: String

    /// The last change that it has.
    package let modified: Timestamp

    package let itemCount: Int

    package var id: String { "\(kind.rawValue):\(file)" }
}

/// The generations of the vault and the backups in the user's folder.
struct KeychainCopies: Sendable {
    /// The most generations, and the most backups, of a keychain that the vault has or misses: more than it makes.
    private static let limitOfEach = 8
    /// The most copies of all other keychains together; a user's folder may have any number of files.
    private static let limitOfOthers = 256

    private struct Source: Hashable {
        let kind: KeychainCopy.Kind
        let keychain: Substring
    }

    private let keychains: Set<Substring>
    private let folder: Folder
    private let backups: BackupFolder?
    private let limits: VaultLimits

    /// - Parameter keychains: the names of those that the vault has or misses.
    init(
        of keychains: some Sequence<CollectionName>,
        in folder: Folder,
        _ backups: BackupFolder?,
        within limits: VaultLimits
    ) {
        self.keychains = Set(keychains.map { name in name.encoded[...] })
        self.folder = folder
        self.backups = backups
        self.limits = limits
    }

    /// The readable copies, newest last; blocks, since each file is copied and checked.
    func all() throws(VaultError) -> [KeychainCopy] {
        var copies: [KeychainCopy] = []
        for (kind, file) in try listedFiles() {
            guard let staged = try? stage(open(kind, file), CopyStop()) else { continue }
            copies.append(
                KeychainCopy(
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
        try listedFiles().map { copy in "\(copy.kind.rawValue):\(copy.file)" }
    }

    /// Stages a copy; throws `unreadable` if there is none with this identifier.
    func stage(_ id: String, _ stop: CopyStop = CopyStop()) throws(VaultError) -> StagedBackup {
        try stage(open(id), stop)
    }

    private func stage(_ file: consuming OpenedFile, _ stop: CopyStop) throws(VaultError) -> StagedBackup {
        try StagedBackup(copying: file, to: folder, within: limits, stop)
    }

    private func open(_ id: String) throws(VaultError) -> OpenedFile {
        let parts = id.split(separator: ":", maxSplits: 1).map(String.init)
        // Only listed names: an identifier is no path.
        guard parts.count == 2, let kind = KeychainCopy.Kind(rawValue: parts[0]),
            try files().contains(where: { other in other.kind == kind && other.file == parts[1] })
        else { throw VaultError(.unreadable, reason: "there is no such copy") }
        return try open(kind, parts[1])
    }

    /// Those that are looked at: neither copies of deleted keychains nor other files in the backup folder push out the
    /// generations of a keychain and its newest backup.
    private func listedFiles() throws(VaultError) -> [(kind: KeychainCopy.Kind, file: String)] {
        var counts: [Source: Int] = [:]
        var others = 0
        return try files().sorted(by: Self.isBefore).filter { copy in
            let source = Source(kind: copy.kind, keychain: copy.file.prefix { character in character != "." })
            if keychains.contains(source.keychain) {
                counts[source, default: 0] += 1
                return counts[source, default: 0] <= Self.limitOfEach
            }
            others += 1
            return others <= Self.limitOfOthers
        }
    }

    /// The newest first: generations end with a number and a time, backups with a day, but the newest with nothing.
    private static func isBefore(
        _ first: (kind: KeychainCopy.Kind, file: String),
        _ second: (kind: KeychainCopy.Kind, file: String)
    ) -> Bool {
        guard first.kind == second.kind else { return first.kind == .generation }
        let (length, other) = (first.file.utf8.count, second.file.utf8.count)
        if first.kind == .backup, length != other { return length < other }
        return first.file > second.file
    }

    private func files() throws(VaultError) -> [(kind: KeychainCopy.Kind, file: String)] {
        var files: [(kind: KeychainCopy.Kind, file: String)] = []
        if try folder.exists(Generations.folderName) {
            for file in try folder.folder(Generations.folderName).names() where Self.isKeychain(file) {
                files.append((.generation, file))
            }
        }
        if let backups, let opened = try UserFolder.open(backups.path, followingLinks: true) {
            for file in try opened.names() where Self.isKeychain(file) { files.append((.backup, file)) }
        }
        return files
    }

    private func open(_ kind: KeychainCopy.Kind, _ file: String) throws(VaultError) -> OpenedFile {
        switch kind {
        case .generation:
            return try OpenedFile(folder.folder(Generations.folderName).file(file), flags: O_RDONLY)
        case .backup:
            guard let backups, let opened = try UserFolder.open(backups.path, followingLinks: true) else {
                throw VaultError(.unreadable, reason: "there is no such copy")
            }
            return try opened.read(file, maximumSize: limits.copyBytes)
        }
    }

    private static func isKeychain(_ file: String) -> Bool {
        file.hasSuffix(CollectionFormat.suffix) && !file.hasPrefix(".")
    }
}

extension Vault {
    func keychainCopies(in folder: Folder, _ backups: BackupFolder?) -> KeychainCopies {
        KeychainCopies(of: collections.map(\.name), in: folder, backups, within: limits)
    }

    /// The generations and backups that can be restored, oldest first.
    package func copies(_ backups: BackupFolder?) async throws(VaultError) -> [KeychainCopy] {
        guard let context else { throw VaultError.vaultClosed }
        let copies = keychainCopies(in: context.folder, backups)
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
        let copies = keychainCopies(in: context.folder, backups)
        let worker = try Worker("restore", (), pool: .foreignFiles)
        return try await worker.perform { (_) throws(VaultError) in try copies.stage(id, stop) }
    }
}
