/// What of a protected item an operation changes.
struct ItemParts: OptionSet, Hashable {
    let rawValue: UInt8

    static let secret = ItemParts(rawValue: 1)
    static let label = ItemParts(rawValue: 2)
    static let attributes = ItemParts(rawValue: 4)
    /// Who may have it.
    static let protection = ItemParts(rawValue: 8)
    /// That it is there.
    static let existence = ItemParts(rawValue: 16)

    /// All that is in it, and not who may have it.
    static let content: ItemParts = [.secret, .label, .attributes]
}
