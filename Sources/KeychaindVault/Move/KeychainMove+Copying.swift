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
        let names = try old.names().filter { name in isExpected(name[...]) }
        let keychains = names.filter { name in name.hasSuffix(CollectionFormat.suffix) }
        guard !keychains.isEmpty else { return [] }
        return names.filter { name in !name.hasSuffix(CollectionFormat.suffix) } + keychains
    }

    func isExpected(_ name: Substring) -> Bool {
        if name == IndexKeyFile.name || name == StateFile.name || name == RulesFile.name { return true }
        if PastFiles.name(of: String(name)) != nil { return true }
        guard name.hasSuffix(CollectionFormat.suffix) else { return false }
        return CollectionName(encoded: name.dropLast(CollectionFormat.suffix.count)).map { $0 != .session } ?? false
    }

    func copy(_ names: [String], from old: borrowing UserFolder) throws(VaultError) -> Copies {
        try incoming.create()
        var copies = Copies()
        var bytesLeft = Self.maximumSize
        for name in names {
            guard try !folder.exists(name) else {
                copies.left[name] = "a file with that name exists already"
                continue
            }
            do throws(VaultError) {
                let copied = try copy(name, from: old, bytesLeft: &bytesLeft)
                if isReadable(name) { copies.removable.append(copied) } else { copies.left[name] = "it cannot be read" }
                copies.placed.append(name)
            } catch {
                guard error.code == .unreadable || error.code == .limitExceeded else { throw error }
                copies.left[name] = error.reason
                try incoming.remove(name)
            }
            try onStep(.copied(name))
        }
        return copies
    }

    private func copy(
        _ name: String,
        from old: borrowing UserFolder,
        bytesLeft: inout Int64
    ) throws(VaultError) -> MoveRecord.OldFile {
        let source = try old.read(name, maximumSize: Self.maximumFileSize)
        let target = try OpenedFile(incoming.file(name), flags: O_RDWR | O_CREAT | O_EXCL)
        let identity = try source.identity()
        try source.copy(to: target, maximumSize: min(Self.maximumFileSize, bytesLeft))
        guard try source.hasSameBytes(as: target), try source.identity() == identity,
            try old.identity(of: name) == identity
        else { throw VaultError(.busy, reason: "\(oldPath)/\(name) changed while it was being moved") }
        bytesLeft -= identity.size
        return MoveRecord.OldFile(name: name, identity: identity)
    }

    private func isReadable(_ name: String) -> Bool {
        let configuration = VaultConfiguration(directory: incoming.path, logger: logger)
        do throws(VaultError) {
            switch name {
            case IndexKeyFile.name:
                return try incoming.size(of: name) == BlindIndexKey.size
            case StateFile.name: try StateFile.checkCopy(in: incoming, configuration)
            case RulesFile.name:
                if case .unreadable(let reason) = RulesFile.load(from: incoming) {
                    throw VaultError(.unreadable, reason: reason)
                }
            default:
                let log = try CollectionLog(incoming.file(name), readOnly: true, configuration)
                _ = try log.header()
                if let damage = log.damage.first { throw VaultError(.unreadable, reason: damage) }
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
        try folder.renameIfFree("\(Self.incomingName)/\(name)", to: name)
    }
}
