import KeychaindModel

/// A collection that has a file, as it was recorded last.
package struct KnownCollection: Equatable, Sendable {
    package var label: String?
    /// The identifier of the file; nil if the file could not be read.
    var identifier: [UInt8]?

    /// Adds what was recorded before, and is not known any more.
    func merged(with earlier: KnownCollection?) -> KnownCollection {
        KnownCollection(label: label ?? earlier?.label, identifier: identifier ?? earlier?.identifier)
    }
}

/// The collections that have a file: without this list, nobody would miss one, or notice another in its place.
extension StateFile {
    private static let labelPrefix = "file/"
    private static let identifierPrefix = "identifier/"
    /// The record whose presence says that there is a list.
    private static let listName = "collections"
    /// More collections than a vault lists.
    private static let maximumCollections = 4096

    /// Nil if no list was ever written.
    func knownCollections() throws(VaultError) -> [CollectionName: KnownCollection]? {
        guard version >= 2 else { return nil }
        let list = try database.prepare("SELECT value FROM record WHERE name = ?1")
        try list.bind(Self.listName, at: 1)
        guard try list.step() else { return nil }
        var known: [CollectionName: KnownCollection] = [:]
        try forEachCollection(Self.labelPrefix) { name, value in
            known[name] = KnownCollection(label: String(decoding: value, as: UTF8.self))
        }
        try forEachCollection(Self.identifierPrefix) { name, value in
            if value.count == CollectionFormat.identifierSize { known[name]?.identifier = Array(value) }
        }
        return known
    }

    private func forEachCollection(
        _ prefix: String,
        _ body: (CollectionName, UnsafeRawBufferPointer) -> Void
    ) throws(VaultError) {
        let rows = try database.prepare(
            "SELECT name, value FROM record WHERE name GLOB '\(prefix)*' LIMIT \(Self.maximumCollections)"
        )
        while try rows.step() {
            guard let name = CollectionName(encoded: rows.text(at: 0).dropFirst(prefix.count)) else { continue }
            body(name, rows.bytes(at: 1))
        }
    }

    func remember(_ collections: [CollectionName: KnownCollection]) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            try setRecord(Self.listName, to: [1])
            for (name, collection) in collections {
                try setRecord(Self.labelPrefix + name.encoded, to: Array((collection.label ?? name.encoded).utf8))
                guard let identifier = collection.identifier else { continue }
                try setRecord(Self.identifierPrefix + name.encoded, to: identifier)
            }
        }
    }

    /// Forgets a collection and its aliases.
    func forget(_ name: CollectionName) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            try setRecord(Self.listName, to: [1])
            for prefix in [Self.labelPrefix, Self.identifierPrefix] {
                try database.run("DELETE FROM record WHERE name = ?1", .text(prefix + name.encoded))
            }
            try removeAliases(of: name.encoded)
        }
    }

    private func setRecord(_ name: String, to value: [UInt8]) throws(VaultError) {
        try database.run("INSERT OR REPLACE INTO record (name, value) VALUES (?1, ?2)", .text(name), .bytes(value))
    }
}
