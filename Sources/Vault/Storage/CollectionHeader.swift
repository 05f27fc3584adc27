import KeychainModel

/// What the file of a collection tells without a key.
struct CollectionHeader: Equatable, Sendable {
    /// The identifier that everything sealed in the file is bound to: 16 random bytes.
    var identifier: [UInt8]

    /// The name for people, as it was when the file was last written.
    var label: String

    /// When the collection was made.
    var created: Timestamp

    /// When it was last changed.
    var modified: Timestamp

    /// The fingerprint of the index key that the tags were made with.
    var indexKey: [UInt8]

    /// The ways to the master key; those that are damaged are left out.
    var slots: [KeySlot]
}
