import Glibc
import KeychainModel
package import Logging

/// The one-time move of a user's keychains from the home folder into the folder of the domain.
///
/// 1. Copies every file into `incoming`, compares it byte for byte and folds in its journal. |2. Lists the new names in
///    `moving` and renames the copies. |3. Lists the old files in `moved`. From here on the copies are authoritative.
///    |4. Removes the old files unless they have changed, and marks `moved` as done.
///
/// After a crash before step 3 the old files are intact and the next start begins again; after step 3 it continues with
/// step 4. Files that the vault cannot read are copied unchanged and kept.
package struct KeychainMove {
    /// The progress of the move, for tests that interrupt it.
    package enum Step: Equatable, Sendable {
        case cleared
        case copied(String)
        case announced
        case placed(String)
        case decided
        case removed(String)
        case explained
    }

    /// The result of the move.
    package enum Outcome: Equatable, Sendable {
        /// An earlier start did it.
        case doneBefore

        /// There was nothing to move, now or later.
        case nothing

        /// Files were moved; some may have been left, with the reasons.
        case moved(files: [String], left: [String: String])
    }

    /// The most bytes of a file.
    package static let maximumFileSize: Int64 = 1 << 30

    /// The most bytes in all.
    package static let maximumSize: Int64 = 4 << 30

    /// The note in the old folder.
    package static let noteName = "MOVED.txt"

    private static let announcementName = "moving"
    private static let incomingName = "incoming"

    private let oldPath: String
    private let folder: Folder
    private let incoming: Folder
    private let logger: Logger
    private let onStep: (Step) throws(VaultError) -> Void

    /// Creates a move.
    ///
    /// - Parameters:
    ///   - old: the folder in the user's home.
    ///   - new: the folder of the domain.
    ///   - onStep: called after each step; throwing interrupts the move like a crash.
    package init(
        from old: String,
        to new: String,
        logger: Logger,
        onStep: @escaping (Step) throws(VaultError) -> Void = { _ in }
    ) {
        oldPath = old
        folder = Folder(new)
        incoming = Folder(new).folder(Self.incomingName)
        self.logger = logger
        self.onStep = onStep
    }

    /// Moves the keychains, once.
    ///
    /// Blocks.
    ///
    /// Throws `inUse` when another process uses either folder, `busy` when the old files change, and disk errors. Then
    /// do not open the vault: a new keychain would block the move of the old one.
    package func run() throws(VaultError) -> Outcome {
        let lock = try FolderLock(folder)
        defer { withExtendedLifetime(lock) {} }
        switch try MoveRecord.load(from: folder) {
        case .done: return .doneBefore
        case .removing(let files):
            try finish(files, left: [:])
            return .moved(files: files.map(\.name), left: [:])
        case nil: break
        }
        try clear()
        try onStep(.cleared)
        guard let old = try UserFolder.open(oldPath) else { return try decideThatThereIsNothing() }
        let candidates = try candidates(in: old)
        guard !candidates.isEmpty else { return try decideThatThereIsNothing() }
        let oldLock = try old.lock()
        defer { withExtendedLifetime(oldLock) {} }
        var copies = try copy(candidates, from: old)
        try announce(copies.placed)
        try onStep(.announced)
        for file in copies.placed {
            try place(file)
            try onStep(.placed(file))
        }
        for name in copies.placed where name.hasPrefix(Generations.folderName + "/") {
            try folder.folder(Generations.folderName).synchronize()
            break
        }
        try folder.synchronize()
        copies.removable.removeAll { file in copies.left[file.name] != nil }
        try MoveRecord.removing(copies.removable).save(in: folder)
        try onStep(.decided)
        try finish(copies.removable, left: copies.left)
        return .moved(files: copies.placed, left: copies.left)
    }

    /// Whether a folder contains keychains to move.
    package static func hasKeychains(_ path: String) -> Bool {
        guard let folder = try? UserFolder.open(path), let names = try? folder.names() else { return false }
        return names.contains { name in name.hasSuffix(CollectionFormat.suffix) }
    }

    /// The result of copying.
    private struct Copies {
        /// The copied files, in `incoming` and by final name.
        var placed: [String] = []
        /// The old files to remove.
        var removable: [MoveRecord.OldFile] = []
        /// The files that stay, with the reasons.
        var left: [String: String] = [:]
    }

    private func decideThatThereIsNothing() throws(VaultError) -> Outcome {
        try MoveRecord.done.save(in: folder)
        return .nothing
    }

    /// Removes leftovers of an interrupted move.
    ///
    /// No vault has been opened since, so files with final names are unchanged copies.
    private func clear() throws(VaultError) {
        if folder.contains(Self.announcementName) {
            let text = try FileText.read(folder.file(Self.announcementName), maximumSize: 4 << 20)
            for name in text.split(separator: "\n") where isExpected(name) {
                try folder.remove(String(name))
                try folder.remove(name + "-wal")
            }
            try folder.synchronize()
            try folder.remove(Self.announcementName)
        }
        guard folder.contains(Self.incomingName) else { return }
        for inner in [incoming.folder(Generations.folderName), incoming] {
            guard let names = try? inner.names() else { continue }
            for name in names where name != Generations.folderName { try inner.remove(name) }
            rmdir(inner.path)
        }
    }

    /// The files to move; small files first, because the collections need them.
    private func candidates(in old: borrowing UserFolder) throws(VaultError) -> [String] {
        let names = try old.names()
        let collections = names.filter { name in name != Generations.folderName && isExpected(name[...]) }
        guard collections.contains(where: { name in name.hasSuffix(CollectionFormat.suffix) }) else { return [] }
        var generations: [String] = []
        if let folder = try? old.folder(Generations.folderName) {
            generations = try folder.names().map { name in "\(Generations.folderName)/\(name)" }
                .filter { name in isExpected(name[...]) }
        }
        return collections.filter { name in !name.hasSuffix(CollectionFormat.suffix) } + generations
            + collections.filter { name in name.hasSuffix(CollectionFormat.suffix) }
    }

    /// Whether a file with that name is moved.
    private func isExpected(_ name: Substring) -> Bool {
        if name == IndexKeyFile.name || name == StateFile.name { return true }
        guard name.hasSuffix(CollectionFormat.suffix) else { return false }
        let stem = name.dropLast(CollectionFormat.suffix.count)
        let generations = Generations.folderName + "/"
        guard stem.hasPrefix(generations) else {
            return CollectionName(encoded: stem).map { name in name != .session } ?? false
        }
        let parts = stem.dropFirst(generations.count).split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && CollectionName(encoded: parts[0]) != nil && CollectionName(encoded: parts[1]) != nil
    }

    private func copy(_ names: [String], from old: borrowing UserFolder) throws(VaultError) -> Copies {
        try incoming.create()
        try incoming.folder(Generations.folderName).create()
        var copies = Copies()
        var bytesLeft = Self.maximumSize
        for name in names {
            guard !folder.contains(name) else {
                copies.left[name] = "a file with that name exists already"
                continue
            }
            do throws(VaultError) {
                let parts = try copy(name, from: old, bytesLeft: &bytesLeft)
                // A journal alone is useless.
                if isReadable(name) { copies.removable += parts } else { copies.left[name] = "it cannot be read" }
                copies.placed.append(name)
            } catch {
                guard error.code == .unreadable || error.code == .limitExceeded else { throw error }
                copies.left[name] = error.reason
                for part in [name, name + "-wal"] { try incoming.remove(part) }
            }
            try onStep(.copied(name))
        }
        return copies
    }

    /// Copies a file and its journal; `busy` when they change.
    private func copy(
        _ name: String,
        from old: borrowing UserFolder,
        bytesLeft: inout Int64
    ) throws(VaultError) -> [MoveRecord.OldFile] {
        var copied: [MoveRecord.OldFile] = []
        for part in [name, name + "-wal"] where part == name || identity(of: part, in: old) != nil {
            let source = try read(part, from: old)
            let target = try OpenedFile(incoming.file(part), flags: O_RDWR | O_CREAT | O_EXCL)
            let identity = try source.identity()
            try source.copy(to: target, maximumSize: min(Self.maximumFileSize, bytesLeft))
            guard try source.hasSameBytes(as: target), try source.identity() == identity else {
                throw VaultError(.busy, reason: "\(oldPath)/\(part) changed while it was being moved")
            }
            bytesLeft -= identity.size
            copied.append(MoveRecord.OldFile(name: part, identity: identity))
        }
        for part in copied where identity(of: part.name, in: old) != part.identity {
            throw VaultError(.busy, reason: "\(oldPath)/\(part.name) changed while it was being moved")
        }
        return copied
    }

    private func read(_ name: String, from old: borrowing UserFolder) throws(VaultError) -> OpenedFile {
        guard let inner = Self.nameInGenerations(name) else {
            return try old.read(name, maximumSize: Self.maximumFileSize)
        }
        guard let generations = try old.folder(Generations.folderName) else {
            throw VaultError(.unreadable, reason: "its folder has disappeared")
        }
        return try generations.read(inner, maximumSize: Self.maximumFileSize)
    }

    private func identity(of name: String, in old: borrowing UserFolder) -> UserFolder.Identity? {
        guard let inner = Self.nameInGenerations(name) else { return old.identity(of: name) }
        guard let generations = try? old.folder(Generations.folderName) else { return nil }
        return generations.identity(of: inner)
    }

    private static func nameInGenerations(_ name: String) -> String? {
        let prefix = Generations.folderName + "/"
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }

    /// Whether the vault can read a copy; folds in its journal.
    private func isReadable(_ name: String) -> Bool {
        do throws(VaultError) {
            switch name {
            case IndexKeyFile.name:
                return incoming.size(of: name) == BlindIndexKey.size
            case StateFile.name:
                try StateFile.foldJournal(in: incoming)
            default:
                try CollectionFile.foldJournal(name, in: incoming)
            }
            try incoming.synchronize(name)
            return true
        } catch {
            logger.warning(
                "A file in the old folder cannot be read; it is copied and the old file stays",
                metadata: ["file": "\(name)", "reason": "\(error)"]
            )
            return false
        }
    }

    private func announce(_ names: [String]) throws(VaultError) {
        try FileText.write(names.map { name in name + "\n" }.joined(), to: Self.announcementName, in: folder)
    }

    /// Renames a copy to its final name.
    private func place(_ name: String) throws(VaultError) {
        if name.hasPrefix(Generations.folderName + "/") { try folder.folder(Generations.folderName).create() }
        // An orphaned journal would be taken for this file's.
        if folder.contains(name + "-wal") { try folder.rename(name + "-wal", to: name + "-wal-orphan") }
        // A journal that could not be folded in moves with the file.
        for part in [name + "-wal", name] where incoming.contains(part) {
            try folder.renameIfFree("\(Self.incomingName)/\(part)", to: part)
        }
    }

    /// Removes the unchanged old files and leaves a note; files that cannot be removed are renamed.
    private func finish(_ files: [MoveRecord.OldFile], left: [String: String]) throws(VaultError) {
        try clear(afterDecision: true)
        if let old = try? UserFolder.open(oldPath) {
            for file in files {
                remove(file, from: old)
                try onStep(.removed(file.name))
            }
            old.removeFolder(Generations.folderName)
            explain(in: old, files: files, left: left)
            try? old.synchronize()
        }
        try onStep(.explained)
        try MoveRecord.done.save(in: folder)
    }

    private func clear(afterDecision: Bool) throws(VaultError) {
        // The announced names are the keychains from here on.
        try folder.remove(Self.announcementName)
        try clear()
    }

    private func remove(_ file: MoveRecord.OldFile, from old: borrowing UserFolder) {
        if let inner = Self.nameInGenerations(file.name) {
            guard let generations = try? old.folder(Generations.folderName) else { return }
            remove(inner, file.identity, from: generations)
        } else {
            remove(file.name, file.identity, from: old)
            // The index of a removed journal is useless.
            try? old.remove(file.name + "-shm")
        }
    }

    private func remove(_ name: String, _ identity: UserFolder.Identity, from old: borrowing UserFolder) {
        guard let present = old.identity(of: name) else { return }
        guard present == identity else {
            logger.warning(
                "A file has changed since it was copied and stays in the old folder",
                metadata: ["file": "\(oldPath)/\(name)"]
            )
            return
        }
        do throws(VaultError) {
            try old.remove(name)
        } catch {
            let reason = error
            do throws(VaultError) {
                try old.renameIfFree(name, to: name + ".moved")
            } catch {
                logger.warning(
                    "A moved file could not be removed from the old folder",
                    metadata: ["file": "\(oldPath)/\(name)", "reason": "\(reason)"]
                )
            }
        }
    }

    private func explain(in old: borrowing UserFolder, files: [MoveRecord.OldFile], left: [String: String]) {
        do throws(VaultError) {
            try old.remove(Self.noteName)
            try old.make(Self.noteName).write(note(files.map(\.name), left))
        } catch {
            logger.warning("The note in the old folder could not be written", metadata: ["reason": "\(error)"])
        }
    }

    private func note(_ files: [String], _ left: [String: String]) -> String {
        var lines = [
            "keychaind has moved your keychains to", "", "    \(folder.path)", "",
            "where only keychaind can read and write them, and no other program of yours.",
            "They open with the same passwords as before.", "", "Moved:", "",
        ]
        let keychains = files.filter { name in name.hasSuffix(CollectionFormat.suffix) }
        lines += keychains.sorted().map { name in "    \(name)" }
        if !left.isEmpty {
            lines += ["", "Still here:", ""]
            lines += left.sorted { $0.key < $1.key }.map { file in "    \(file.key): \(file.value)" }
        }
        lines += [
            "", "To have a copy: keychaind keeps sealed backups of your keychains in the folder",
            "`backup` beside this file. They open with your password or a recovery key.",
            "An administrator can copy the files themselves.", "",
            "To put a keychain that is still here in its place: docs/backup.md of keychaind,",
            "\"Restore a keychain\".", "",
        ]
        return lines.joined(separator: "\n")
    }
}
