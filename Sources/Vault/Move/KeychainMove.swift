import Glibc
import KeychainModel
package import Logging

/// The one-time move of a user's keychains from the home folder into the domain's.
///
/// 1. Every file is copied into `incoming`, compared byte for byte, and its journal folded in.
/// 2. `moving` lists the names that the copies will get; then they get them.
/// 3. `moved` lists the old files: from here on the copies count.
/// 4. The old files are removed, unless they have changed, and `moved` says that it is done.
///
/// A crash before 3 leaves the old files whole, and the next start begins anew; a crash after 3 leaves copies that are whole, and the
/// next start goes on at 4. What the vault cannot read is copied as it is, and the old file stays, too.
package struct KeychainMove {
    /// How far the move has come, for tests that end it there.
    package enum Step: Equatable, Sendable {
        case cleared
        case copied(String)
        case announced
        case placed(String)
        case decided
        case removed(String)
        case explained
    }

    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// It was done at an earlier start.
        case doneBefore

        /// There was nothing to move, and nothing will be moved later.
        case nothing

        /// Files were moved; some may have been left where they were, for the reasons given.
        case moved(files: [String], left: [String: String])
    }

    /// The longest file that is moved, in bytes.
    package static let maximumFileSize: Int64 = 1 << 30

    /// The most bytes that are moved.
    package static let maximumSize: Int64 = 4 << 30

    /// The note to the person in the old folder.
    package static let noteName = "MOVED.txt"

    private static let announcementName = "moving"
    private static let incomingName = "incoming"

    private let oldPath: String
    private let folder: Folder
    private let incoming: Folder
    private let logger: Logger
    private let onStep: (Step) throws(VaultError) -> Void

    /// - Parameters:
    ///   - old: the folder in the user's home.
    ///   - new: the folder of the domain.
    ///   - onStep: called after each step; what it throws ends the move as a crash would.
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

    /// Moves what there is, once; blocks for as long as the disk takes.
    ///
    /// Throws `inUse` when another process uses either folder, `busy` when the old files change meanwhile, and what the disk may. Then
    /// the vault must not be opened: a keychain made there would take the place of the one that is still to come.
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

    /// Whether a folder of the user's has keychains to move.
    package static func hasKeychains(_ path: String) -> Bool {
        guard let folder = try? UserFolder.open(path), let names = try? folder.names() else { return false }
        return names.contains { name in name.hasSuffix(CollectionFormat.suffix) }
    }

    // MARK: Before the decision

    /// What was copied.
    private struct Copies {
        /// The names, in `incoming` and where they will be.
        var placed: [String] = []
        /// The old files that are no longer needed then.
        var removable: [MoveRecord.OldFile] = []
        /// Why files stay where they are, by name.
        var left: [String: String] = [:]
    }

    private func decideThatThereIsNothing() throws(VaultError) -> Outcome {
        try MoveRecord.done.save(in: folder)
        return .nothing
    }

    /// Takes away what a move has left that did not come to its decision.
    ///
    /// No vault was opened since, so what has its name already is a copy without a change.
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

    /// What is to be moved, the small files first: the collections need them.
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

    /// Whether a name is that of a file that is moved.
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
                copies.left[name] = "there is one of that name already"
                continue
            }
            do throws(VaultError) {
                let parts = try copy(name, from: old, bytesLeft: &bytesLeft)
                // A journal without its file is of no use to anybody.
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

    /// Copies a file and its journal, which must not change meanwhile.
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
                throw VaultError(.busy, reason: "\(oldPath)/\(part) changes while it is being moved")
            }
            bytesLeft -= identity.size
            copied.append(MoveRecord.OldFile(name: part, identity: identity))
        }
        for part in copied where identity(of: part.name, in: old) != part.identity {
            throw VaultError(.busy, reason: "\(oldPath)/\(part.name) changes while it is being moved")
        }
        return copied
    }

    private func read(_ name: String, from old: borrowing UserFolder) throws(VaultError) -> OpenedFile {
        guard let inner = Self.nameInGenerations(name) else {
            return try old.read(name, maximumSize: Self.maximumFileSize)
        }
        guard let generations = try old.folder(Generations.folderName) else {
            throw VaultError(.unreadable, reason: "its folder is gone")
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

    /// Whether the vault could read a copy; its journal is folded in then.
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
                "A file of the old folder cannot be read",
                metadata: ["file": "\(name)", "reason": "\(error)"]
            )
            return false
        }
    }

    private func announce(_ names: [String]) throws(VaultError) {
        try FileText.write(names.map { name in name + "\n" }.joined(), to: Self.announcementName, in: folder)
    }

    /// Gives a copy its name, which no other has.
    private func place(_ name: String) throws(VaultError) {
        if name.hasPrefix(Generations.folderName + "/") { try folder.folder(Generations.folderName).create() }
        // One without its file belongs to nothing, and would be taken for this file's.
        if folder.contains(name + "-wal") { try folder.rename(name + "-wal", to: name + "-wal-orphan") }
        // One that could not be folded in belongs to this file.
        for part in [name + "-wal", name] where incoming.contains(part) {
            try folder.renameIfFree("\(Self.incomingName)/\(part)", to: part)
        }
    }

    // MARK: After the decision

    /// Removes old files that are what was moved, and says so in the old folder; what cannot be removed stays under another name.
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
        // The names that are announced are the keychains now.
        try folder.remove(Self.announcementName)
        try clear()
    }

    private func remove(_ file: MoveRecord.OldFile, from old: borrowing UserFolder) {
        if let inner = Self.nameInGenerations(file.name) {
            guard let generations = try? old.folder(Generations.folderName) else { return }
            remove(inner, file.identity, from: generations)
        } else {
            remove(file.name, file.identity, from: old)
            // The index of a journal is of no use without it.
            try? old.remove(file.name + "-shm")
        }
    }

    private func remove(_ name: String, _ identity: UserFolder.Identity, from old: borrowing UserFolder) {
        guard let present = old.identity(of: name) else { return }
        guard present == identity else {
            logger.warning("A file has changed since it was moved, and stays", metadata: ["file": "\(oldPath)/\(name)"])
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
                    "A file that was moved stays in the old folder",
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
            logger.warning("No note is in the old folder", metadata: ["reason": "\(error)"])
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
