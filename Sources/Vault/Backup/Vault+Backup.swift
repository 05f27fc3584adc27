package import Gcrypt
import Glibc
package import KeychainModel
import Logging

extension Vault {
    /// Puts a sealed copy of a collection into a folder of the user's, on a thread that may wait.
    ///
    /// Nothing happens for what has no file that can be read. Throws `unreadable` when there is something else in its place, and what the
    /// disk may.
    package func backUp(_ name: CollectionName, to backups: BackupFolder) async throws(VaultError) {
        guard let context, let collection = collection(named: name), case .file = collection.storage,
            collection.problems.isEmpty
        else { return }
        let copy = SealedCopy(of: name, in: context.folder)
        try await context.keeper.perform { (_) throws(VaultError) in
            try copy.make { (file) throws(VaultError) in try backups.keep(file, of: name) }
        }
    }

    /// Takes a file that somebody has opened, to be restored, on a thread of its own.
    ///
    /// Throws `unreadable`, `unsupportedFormat`, `limitExceeded`, and what the disk may.
    package func stage(_ file: consuming OpenedFile) async throws(VaultError) -> StagedBackup {
        guard let context else { throw Collection.closed }
        // Somebody else's file may be on a disk that never answers.
        let worker = try Worker("restore", ())
        let source = Handoff(file)
        return try await worker.perform { [folder = context.folder] (_) throws(VaultError) in
            guard let source = source.take() else { throw Collection.closed }
            return try StagedBackup(copying: source, to: folder)
        }
    }

    /// Tells, on a thread that may wait, whether a text opens a backup; it throws if not.
    package func verify(_ text: consuming SecureBytes, opens backup: StagedBackup) async throws(VaultError) {
        guard let context else { throw Collection.closed }
        try context.configuration.limits.check(password: text)
        let text = Handoff(text)
        try await context.deriver.perform { (_) throws(VaultError) in
            guard let text = text.take() else { throw Collection.closed }
            try backup.verify(text)
        }
    }

    /// The name of the collection that a backup would be.
    ///
    /// That of the collection it is a copy of; else the one that its file is named after; else the one made from its label.
    ///
    /// - Parameter fileName: the name of the file, as far as it is known; it may be any text.
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

    /// Whether a backup is one of this collection, and not of another of the same name.
    package func isCopy(_ backup: StagedBackup, of collection: Collection) -> Bool {
        collection.header?.identifier == backup.header.identifier
    }

    /// Puts a backup in the place of a collection, whose present state becomes a past generation; or makes it one that was not there.
    ///
    /// A present file that cannot be read is kept under another name. When this returns, the disk has it, and the collection is locked.
    /// Throws `busy` when another collection has the name by now, `limitExceeded`, and what the disk may; then all is as it was.
    ///
    /// - Parameter present: what has the name now; nil for nothing.
    package func restore(
        _ backup: StagedBackup,
        as name: CollectionName,
        inPlaceOf present: Collection?
    ) async throws(VaultError) -> Collection {
        guard let context else { throw Collection.closed }
        guard collection(named: name) === present, present?.isEphemeral != true, name != .session else {
            throw VaultError(.busy, reason: "another keychain has the name \(name) by now")
        }
        guard present != nil || collections.count < context.configuration.limits.collections else {
            throw VaultError(.limitExceeded, reason: "there are too many collections")
        }
        let swap = FileSwap(of: name, in: context.folder, now: context.configuration.now())
        let hasFile: Bool
        switch present?.state {
        case nil, .vacant: hasFile = false
        default: hasFile = true
        }
        let isReadable = if case .unreadable = present?.state { false } else { true }
        await present?.retire()
        var failure: VaultError?
        do throws(VaultError) {
            let kept = max(1, context.configuration.generations)
            try await context.keeper.perform { (_) throws(VaultError) in
                if hasFile { try swap.keepPresent(isReadable: isReadable, generations: kept) }
                try swap.place(backup)
            }
        } catch {
            failure = error
        }
        // What is there now: the backup, or what was there before.
        let collection =
            hasFile || failure == nil ? await Self.collection(name, in: context) : Self.vacant(name, in: context)
        replace(present, by: collection)
        if let failure { throw failure }
        return collection
    }
}

extension Collection {
    /// Ends all use of the collection, whose file stays: another object takes its place.
    func retire() async {
        await close()
        phase = .deleted
        failWaiting(Self.deleted)
        table = ItemTable()
    }
}

/// Puts another file in the place of a collection's, which nobody uses meanwhile.
private struct FileSwap: Sendable {
    private let name: CollectionName
    private let file: String
    private let folder: Folder
    private let now: Timestamp

    init(of name: CollectionName, in folder: Folder, now: Timestamp) {
        self.name = name
        self.folder = folder
        self.now = now
        file = name.encoded + CollectionFormat.suffix
    }

    /// Keeps the present file as a generation, or under another name when it cannot be read.
    func keepPresent(isReadable: Bool, generations: Int) throws(VaultError) {
        if isReadable {
            do throws(VaultError) {
                try Generations(of: name, in: folder, keeping: generations).keep(at: now, always: true)
                try CollectionFile.foldJournal(file, in: folder)
                return
            } catch {
                guard error.code == .unreadable else { throw error }
            }
        }
        let aside = "\(file).unreadable-\(now.microsecondsSinceEpoch / 1_000_000)"
        for suffix in ["-wal", ""] where folder.contains(file + suffix) {
            try folder.renameIfFree(file + suffix, to: aside + suffix)
        }
    }

    /// Gives the backup the name; after a crash the file is the present one or the backup.
    func place(_ backup: StagedBackup) throws(VaultError) {
        // One of the file before would be taken for this one's. It was folded in, so it is empty.
        for suffix in ["-wal", "-shm"] { try folder.remove(file + suffix) }
        try folder.synchronize(backup.file)
        try folder.rename(backup.file, to: file)
        try folder.synchronize()
    }
}
