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
        guard try value(ofRecord: Self.listName) != nil else { return nil }
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
        try forEachRecord(withPrefix: prefix, limit: Self.maximumCollections) { record, value in
            if let name = CollectionName(encoded: record.dropFirst(prefix.count)) { body(name, value) }
        }
    }

    func remember(_ collections: [CollectionName: KnownCollection]) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            try setValue([1], ofRecord: Self.listName)
            for (name, collection) in collections {
                let label = collection.label ?? name.encoded
                try setValue(Array(label.utf8), ofRecord: Self.labelPrefix + name.encoded)
                guard let identifier = collection.identifier else { continue }
                try setValue(identifier, ofRecord: Self.identifierPrefix + name.encoded)
            }
        }
    }

    /// Forgets a collection and its aliases.
    func forget(_ name: CollectionName) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            try setValue([1], ofRecord: Self.listName)
            for prefix in [Self.labelPrefix, Self.identifierPrefix] { try removeRecord(prefix + name.encoded) }
            try removeAliases(of: name.encoded)
        }
    }
}
