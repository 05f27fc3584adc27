import Glibc
import KeychaindModel
import Logging

extension KeychainMove {
    struct Copies {
        /// The copied files, in `incoming` and by final name.
        var placed: [String] = []
        var removable: [MoveRecord.OldFile] = []
        /// The files that stay, with the reasons.
        var left: [String: String] = [:]
    }

    /// The files to move; small files first, because the collections need them.
    func candidates(in old: borrowing UserFolder) throws(VaultError) -> [String] {
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

    func isExpected(_ name: Substring) -> Bool {
        if name == IndexKeyFile.name || name == StateFile.name || name == RulesFile.name { return true }
        guard name.hasSuffix(CollectionFormat.suffix) else { return false }
        let stem = name.dropLast(CollectionFormat.suffix.count)
        let generations = Generations.folderName + "/"
        guard stem.hasPrefix(generations) else {
            return CollectionName(encoded: stem).map { name in name != .session } ?? false
        }
        let file = name.dropFirst(generations.count)
        let collection = file.split(separator: ".").first.flatMap { name in CollectionName(encoded: name) }
        return collection.map { collection in GenerationName(String(file), of: collection) != nil } ?? false
    }

    func copy(_ names: [String], from old: borrowing UserFolder) throws(VaultError) -> Copies {
        try incoming.create()
        try incoming.folder(Generations.folderName).create()
        var copies = Copies()
        var bytesLeft = Self.maximumSize
        for name in names {
            guard try !folder.exists(name) else {
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
                for part in Self.parts(of: name) { try incoming.remove(part) }
            }
            try onStep(.copied(name))
        }
        return copies
    }

    private func copy(
        _ name: String,
        from old: borrowing UserFolder,
        bytesLeft: inout Int64
    ) throws(VaultError) -> [MoveRecord.OldFile] {
        var copied: [MoveRecord.OldFile] = []
        for part in Self.parts(of: name) {
            if part != name, try identity(of: part, in: old) == nil { continue }
            let source = try read(part, from: old)
            let target = try OpenedFile(incoming.file(part), flags: O_RDWR | O_CREAT | O_EXCL)
            let identity = try source.identity()
            try source.copy(to: target, maximumSize: min(Self.maximumFileSize, bytesLeft))
            guard try source.hasSameBytes(as: target), try source.identity() == identity else {
                throw VaultError(.busy, reason: "\(oldPath)/\(part) changed while it was being moved")
            }
            bytesLeft -= identity.size
            // It goes with the journal.
            if part == name + "-shm" { continue }
            copied.append(MoveRecord.OldFile(name: part, identity: identity))
        }
        for part in copied where try identity(of: part.name, in: old) != part.identity {
            throw VaultError(.busy, reason: "\(oldPath)/\(part.name) changed while it was being moved")
        }
        return copied
    }

    /// The files of a database: without the index, damage at the end of its journal would not be noticed.
    private static func parts(of name: String) -> [String] { [name, name + "-wal", name + "-shm"] }

    private func read(_ name: String, from old: borrowing UserFolder) throws(VaultError) -> OpenedFile {
        guard let inner = Self.nameInGenerations(name) else {
            return try old.read(name, maximumSize: Self.maximumFileSize)
        }
        guard let generations = try old.folder(Generations.folderName) else {
            throw VaultError(.unreadable, reason: "its folder has disappeared")
        }
        return try generations.read(inner, maximumSize: Self.maximumFileSize)
    }

    private func identity(
        of name: String,
        in old: borrowing UserFolder
    ) throws(VaultError) -> UserFolder.Identity? {
        guard let inner = Self.nameInGenerations(name) else { return try old.identity(of: name) }
        guard let generations = try old.folder(Generations.folderName) else { return nil }
        return try generations.identity(of: inner)
    }

    static func nameInGenerations(_ name: String) -> String? {
        let prefix = Generations.folderName + "/"
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }

    private func isReadable(_ name: String) -> Bool {
        do throws(VaultError) {
            switch name {
            case IndexKeyFile.name:
                return try incoming.size(of: name) == BlindIndexKey.size
            case StateFile.name:
                try StateFile.foldJournal(in: incoming)
            case RulesFile.name:
                if case .unreadable(let reason) = RulesFile.load(from: incoming) {
                    throw VaultError(.unreadable, reason: reason)
                }
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

    func announce(_ names: [String]) throws(VaultError) {
        try FileText.write(names.map { name in name + "\n" }.joined(), to: Self.announcementName, in: folder)
    }

    func place(_ name: String) throws(VaultError) {
        if name.hasPrefix(Generations.folderName + "/") { try folder.folder(Generations.folderName).create() }
        // An orphaned journal would be taken for this file's.
        for orphan in [name + "-wal", name + "-shm"] where try folder.exists(orphan) {
            try folder.rename(orphan, to: orphan + "-orphan")
        }
        // A journal that could not be folded in moves with the file.
        for part in Self.parts(of: name).reversed() where try incoming.exists(part) {
            try folder.renameIfFree("\(Self.incomingName)/\(part)", to: part)
        }
    }
}
