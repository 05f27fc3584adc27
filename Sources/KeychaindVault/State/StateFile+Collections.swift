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

/// The collections that have a file: without this list, a missing one, or another in its place, would go unnoticed.
extension StateFile {
    static let labelPrefix = "file/"
    static let identifierPrefix = "identifier/"
    /// The record whose presence says that there is a list.
    static let listName = "collections"

    /// Nil if no list was ever written.
    var knownCollections: [CollectionName: KnownCollection]? {
        guard value(ofRecord: Self.listName) != nil else { return nil }
        var known: [CollectionName: KnownCollection] = [:]
        for (record, label) in records(withPrefix: Self.labelPrefix) {
            guard let name = CollectionName(encoded: record[...]) else { continue }
            let identifier = value(ofRecord: Self.identifierPrefix + record)
            known[name] = KnownCollection(
                label: String(decoding: label, as: UTF8.self),
                identifier: identifier?.count == CollectionFormat.identifierSize ? identifier : nil
            )
        }
        return known
    }

    func remember(_ collections: [CollectionName: KnownCollection]) throws(VaultError) {
        var values: [String: [UInt8]?] = [Self.listName: .some([1])]
        for (name, collection) in collections {
            values[Self.labelPrefix + name.encoded] = .some(Array((collection.label ?? name.encoded).utf8))
            guard let identifier = collection.identifier else { continue }
            values[Self.identifierPrefix + name.encoded] = .some(identifier)
        }
        try set(values)
    }
}
