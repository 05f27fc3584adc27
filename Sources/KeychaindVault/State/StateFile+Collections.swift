import KeychaindModel

/// The collections that have a file, by name, with their labels: without this list, nobody would miss a file.
extension StateFile {
    private static let collectionPrefix = "file/"
    /// The record whose presence says that there is a list.
    private static let listName = "collections"
    /// More collections than a vault lists.
    private static let maximumCollections = 4096

    /// Nil if no list was ever written.
    func knownCollections() throws(VaultError) -> [CollectionName: String]? {
        guard version >= 2 else { return nil }
        let list = try database.prepare("SELECT value FROM record WHERE name = ?1")
        try list.bind(Self.listName, at: 1)
        guard try list.step() else { return nil }
        let prefix = Self.collectionPrefix
        let rows = try database.prepare(
            "SELECT name, value FROM record WHERE name GLOB '\(prefix)*' LIMIT \(Self.maximumCollections)"
        )
        var known: [CollectionName: String] = [:]
        while try rows.step() {
            guard let name = CollectionName(encoded: rows.text(at: 0).dropFirst(prefix.count)) else { continue }
            known[name] = String(decoding: rows.bytes(at: 1), as: UTF8.self)
        }
        return known
    }

    func remember(_ labels: [CollectionName: String]) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            try setRecord(Self.listName, to: [1])
            for (name, label) in labels { try setRecord(Self.collectionPrefix + name.encoded, to: Array(label.utf8)) }
        }
    }

    /// Forgets a collection and its aliases.
    func forget(_ name: CollectionName) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            try setRecord(Self.listName, to: [1])
            try database.run("DELETE FROM record WHERE name = ?1", .text(Self.collectionPrefix + name.encoded))
            try removeAliases(of: name.encoded)
        }
    }

    private func setRecord(_ name: String, to value: [UInt8]) throws(VaultError) {
        try database.run("INSERT OR REPLACE INTO record (name, value) VALUES (?1, ?2)", .text(name), .bytes(value))
    }
}
