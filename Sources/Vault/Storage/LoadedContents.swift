/// The contents of a collection after unlocking.
struct LoadedContents: Sendable {
    /// The items.
    var table: ItemTable

    /// The sealed state; nil when it is damaged.
    var sealedState: CollectionState?

    /// Whether the rows match the sealed state.
    var isWhole: Bool

    /// The problems of the file, in words for a person.
    var problems: [String]
}
