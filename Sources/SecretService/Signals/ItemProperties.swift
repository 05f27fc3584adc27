/// Which properties of an item have changed; `Modified` always has.
struct ItemProperties: OptionSet {
    let rawValue: Int

    static let label = ItemProperties(rawValue: 1)
    static let attributes = ItemProperties(rawValue: 2)
    static let locked = ItemProperties(rawValue: 4)
    static let created = ItemProperties(rawValue: 8)
    static let all: ItemProperties = [.label, .attributes]
}
