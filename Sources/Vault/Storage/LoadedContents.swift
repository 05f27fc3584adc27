/// What unlocking a collection brought to light.
struct LoadedContents: Sendable {
    /// The items.
    var table: ItemTable

    /// The state as it was sealed; nil when it is damaged.
    var sealedState: CollectionState?

    /// What is wrong with the file, in words for a person.
    var problems: [String]
}
