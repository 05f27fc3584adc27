/// What unlocking a collection brought to light.
struct LoadedContents: Sendable {
    /// The items.
    var table: ItemTable

    /// The state as it was sealed; nil when it is damaged.
    var sealedState: CollectionState?

    /// Whether the rows are those that were written, none less or more.
    var isWhole: Bool

    /// What is wrong with the file, in words for a person.
    var problems: [String]
}
