import Glibc
package import KeychaindGcrypt
package import KeychaindModel
import Logging

extension Vault {
    /// The most threads that read files for restores, checks and lists, and write a backup; each may be held by a disk
    /// that never answers.
    package static let foreignFileThreads = 16

    /// Puts a sealed copy of a collection with a readable file into the user's backup folder, on threads of their own,
    /// after the backups that were begun before.
    ///
    /// Throws `unreadable` when the collection is missing, damaged or lacks changes, and `limitExceeded` when the copy
    /// is too large to be read back, so that no good backup is replaced; both become a problem of the collection. Also
    /// throws `unreadable` when the name belongs to something else, `locked` before the first unlock since the start,
    /// after which ``onChange`` is called, and disk errors.
    package func backUp(_ name: CollectionName, to backups: BackupFolder) async throws(VaultError) {
        await exclusiveWork.begin(.backup)
        defer { exclusiveWork.end(.backup) }
        guard let context, let collection = collection(named: name), collection.state != .vacant,
            !collection.isEphemeral
        else { return }
        guard case .file = collection.storage else {
            throw VaultError(.unreadable, reason: collection.problem ?? "the keychain cannot be read")
        }
        let problems = collection.problems + [collection.replacement?.problem].compactMap(\.self)
        guard problems.isEmpty else { throw VaultError(.unreadable, reason: problems.joined(separator: "; ")) }
        guard let keys = collection.checkKeys else {
            collection.awaitsBackup = true
            throw VaultError(.locked, reason: "a keychain is copied once it was unlocked")
        }
        let known = try await collection.sequence
        let copy = SealedCopy(of: name, in: context.folder, known: known, keys, context.configuration)
        let begun = Timestamp.now()
        let file: Handoff<OpenedFile>
        do throws(VaultError) {
            file = try await context.copyWorker.perform { (_) throws(VaultError) in Handoff(try copy.make()) }
            collection.noteCopy()
        } catch {
            collection.noteCopy(failure: error)
            if error.code == .unreadable { await collection.lookForDamage() }
            throw error
        }
        // A copy without damage does not show that the file has none.
        if collection.foundDamage != nil { await collection.lookForDamage() }
        // No copy or end of the vault waits for the user's disk, which may never answer.
        let worker = try Worker("backup", (), pool: .foreignFiles)
        try await worker.perform { (_) throws(VaultError) in
            guard let file = file.take() else { throw VaultError.vaultClosed }
            try backups.keep(file, of: name, begun: begun)
        }
    }

    /// Waits for the backups that have begun.
    package func waitForBackups() async {
        await exclusiveWork.begin(.backup)
        exclusiveWork.end(.backup)
    }

    /// Whether the backup of a collection was begun after the second of its last change; false if that is unknown.
    package func hasCurrentBackup(_ collection: Collection, in backups: BackupFolder) async -> Bool {
        let changed = collection.modified.microsecondsSinceEpoch / 1_000_000
        let file = collection.name.fileName
        do throws(VaultError) {
            let worker = try Worker("backup", (), pool: .foreignFiles)
            let made = try await worker.perform { (_) throws(VaultError) in try backups.lastChange(of: file) }
            return made.map { made in made > changed } ?? false
        } catch {
            return false
        }
    }

    /// Stages a file for a restore; throws `unreadable`, `unsupportedFormat`, `limitExceeded`, and disk errors.
    package func stage(
        _ file: consuming OpenedFile,
        _ stop: CopyStop = CopyStop()
    ) async throws(VaultError) -> StagedBackup {
        guard let context else { throw VaultError.vaultClosed }
        let worker = try Worker("restore", (), pool: .foreignFiles)
        let source = Handoff(file)
        let configuration = context.configuration
        return try await worker.perform { [folder = context.folder] (_) throws(VaultError) in
            guard let source = source.take() else { throw VaultError.vaultClosed }
            return try StagedBackup(copying: source, to: folder, configuration, stop)
        }
    }

    /// Stages the newest past file of a collection; nil if there is none.
    package func stageNewestPastFile(of collection: Collection) async throws(VaultError) -> StagedBackup? {
        guard let context else { throw VaultError.vaultClosed }
        let past = PastFiles(of: collection.name, in: context.folder)
        // Not on a thread for foreign files, all of which may wait for disks that never answer.
        let worker = try Worker("restore", ())
        let (folder, configuration) = (context.folder, context.configuration)
        return try await worker.perform { [identifier = collection.former.identifier] (_) throws(VaultError) in
            for file in try past.existing().reversed() {
                let opened = try OpenedFile(folder.file(file), flags: O_RDONLY)
                guard let staged = try? StagedBackup(copying: opened, to: folder, configuration),
                    identifier == nil || staged.header.identifier == identifier
                else { continue }
                return staged
            }
            return nil
        }
    }

    /// Throws unless the text opens the backup.
    package func verify(_ text: consuming SecureBytes, opens backup: StagedBackup) async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        try context.configuration.limits.check(password: text)
        let text = Handoff(text)
        try await context.derivations.perform { () throws(VaultError) in
            guard let text = text.take() else { throw VaultError.vaultClosed }
            try backup.verify(text)
        }
    }

    /// Returns the name for a restore: of the collection with the same identifier, else from the file name or the
    /// label.
    package func name(of backup: StagedBackup, fileName: String?) -> CollectionName? {
        if let same = collections.first(where: { other in other.header?.identifier == backup.header.identifier }) {
            return same.name
        }
        let stem = fileName?.split(separator: ".", omittingEmptySubsequences: false).first
        let named = stem.flatMap { stem in CollectionName(encoded: stem) }
        let name = fileName?.hasSuffix(CollectionFormat.suffix) == true ? named : nil
        let found = name ?? CollectionName(label: backup.label)
        return found == .session ? nil : found
    }

    package func isCopy(_ backup: StagedBackup, of collection: Collection) -> Bool {
        collection.header?.identifier == backup.header.identifier
    }

    /// Restores a backup in place of the present collection, whose file becomes a past one, or as a new collection.
    ///
    /// A file that is unreadable is kept under another name. The result is durable and
    /// locked. Throws `busy` when another collection has taken the name, `limitExceeded`, and disk errors; then nothing
    /// has changed, unless the reason says that this is unknown.
    package func restore(
        _ backup: StagedBackup,
        as name: CollectionName,
        inPlaceOf present: Collection?
    ) async throws(VaultError) -> Collection {
        await exclusiveWork.begin(.replacement(name))
        defer { exclusiveWork.end(.replacement(name)) }
        guard let context else { throw VaultError.vaultClosed }
        guard collection(named: name) === present, present?.isEphemeral != true, name != .session else {
            throw VaultError(.busy, reason: "another keychain has taken the name \(name)")
        }
        guard present != nil || collections.count < context.configuration.limits.collections else {
            throw VaultError(.limitExceeded, reason: "there are too many collections")
        }
        let swap = FileSwap(of: name, in: context.folder, context.configuration)
        let hasFile: Bool
        switch present?.state {
        case nil, .vacant: hasFile = false
        default: hasFile = true
        }
        let isReadable = if case .unreadable = present?.state { false } else { true }
        await present?.retire()
        var failure: VaultError?
        do throws(VaultError) {
            // Before the swap: after a crash, the restored file would pass for an older one of another program.
            let identifier = backup.header.identifier
            try await context.folderWorker.perform { (folder) throws(VaultError) in
                folder.forgetLastChange(of: identifier)
            }
            try await context.copyWorker.perform { (_) throws(VaultError) in
                if hasFile { try swap.keepPresent(isReadable: isReadable) }
                try swap.place(backup)
            }
        } catch {
            failure = error
        }
        // The backup, or the old file after a failure.
        let known = failure == nil ? KnownCollection(label: present?.label) : present?.former
        let collection =
            hasFile || failure == nil
            ? await Self.collection(name, known: known, in: context) : Self.vacant(name, in: context)
        // Its first unlock records that it is no rollback, under the seal of the ledger.
        if failure == nil { collection.restoredPosition = backup.position }
        replace(present, by: collection)
        if let failure { throw failure }
        return collection
    }
}

extension Collection {
    /// Keeps a durable copy of the file as a past one, such as before items are put back; throws `locked`.
    package func keepPast() async throws(VaultError) {
        guard case .file(let worker) = storage else { return }
        try await worker.perform { (writer) throws(VaultError) in try writer.keepPast() }
    }

    /// Ends all use of the collection before another object takes its place; the file stays.
    ///
    /// Its items can be found until then: programs would take their absence for a loss, and store them anew.
    func retire() async {
        await close()
        phase = .retired
        failWaiting(VaultError.collectionRetired)
    }
}

/// The replacement of a collection's file while nobody uses it.
private struct FileSwap: Sendable {
    private let name: CollectionName
    private let folder: Folder
    private let configuration: VaultConfiguration

    init(of name: CollectionName, in folder: Folder, _ configuration: VaultConfiguration) {
        (self.name, self.folder, self.configuration) = (name, folder, configuration)
    }

    /// Keeps the present file as a past one, or under another name when it is unreadable.
    ///
    /// Under both names until the backup is in its place: a crash leaves one or the other there.
    func keepPresent(isReadable: Bool) throws(VaultError) {
        guard try folder.exists(name.fileName) else { return }
        guard isReadable else {
            _ = try folder.keepAside(name.fileName, at: configuration.now())
            return
        }
        let past = PastFiles(of: name, in: folder)
        try folder.keepAlso(name.fileName, as: past.newName(at: configuration.now()))
        try folder.synchronize()
        try past.prune(keeping: max(1, configuration.generations))
    }

    /// Renames the backup to the collection's file; a crash leaves one or the other.
    func place(_ backup: StagedBackup) throws(VaultError) {
        try folder.synchronize(backup.file)
        try folder.replace(name.fileName, by: backup.file)
    }
}
