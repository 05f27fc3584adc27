import KeychaindForeignFiles
import KeychaindModel

/// The items of a source beside those that keychaind has, each counted as often as it is there.
///
/// Items are the same by their attributes, of which the generic schema is none, as for programs. Two items of the
/// source with equal attributes are two here as well, and an import that runs again finds both.
package struct ItemComparison: Sendable {
    /// Items that keychaind lacks.
    package private(set) var new: [ImportedItem] = []
    /// Items that keychaind has, the same in secret, content type and label.
    package private(set) var same: [ImportedItem] = []
    /// Items that keychaind has otherwise.
    package private(set) var differing: [DifferingItem] = []
    /// Items of keychaind alone.
    package private(set) var others: [ImportedItem] = []

    package init(_ items: [ImportedItem], with present: [ImportedItem]) {
        var presentByAttributes = Dictionary(grouping: present) { $0.item.attributes.withoutGenericSchema }
        var unmatched: [ImportedItem] = []
        for item in items {
            let attributes = item.item.attributes.withoutGenericSchema
            let candidates = presentByAttributes[attributes] ?? []
            if let index = candidates.firstIndex(where: { item.differences(from: $0).isEmpty }) {
                presentByAttributes[attributes]?.remove(at: index)
                same.append(item)
            } else {
                unmatched.append(item)
            }
        }
        for item in unmatched {
            let attributes = item.item.attributes.withoutGenericSchema
            guard let other = presentByAttributes[attributes]?.first else {
                new.append(item)
                continue
            }
            presentByAttributes[attributes]?.removeFirst()
            differing.append(DifferingItem(item: item, present: other))
        }
        let remaining = Set(presentByAttributes.values.joined().map(ObjectIdentifier.init))
        others = present.filter { remaining.contains(ObjectIdentifier($0)) }
        let lookalikes = Dictionary(grouping: present + new) { DifferingItem.identity(of: $0) }.mapValues(\.count)
        for index in differing.indices {
            differing[index].isReplaceable = lookalikes[DifferingItem.identity(of: differing[index].present)] == 1
        }
        // In the order of their changes, since among equals the last one written is the newest.
        new.sort { ($0.item.modified ?? .max) < ($1.item.modified ?? .max) }
    }
}

/// An item of the source, and the other one with its attributes.
package struct DifferingItem: Sendable {
    package let item: ImportedItem
    package let present: ImportedItem
    /// Whether `CreateItem` would replace this item: no other one could be meant.
    package fileprivate(set) var isReplaceable = false

    fileprivate init(item: ImportedItem, present: ImportedItem) {
        self.item = item
        self.present = present
    }

    /// The attributes by which keychaind finds the item to replace.
    fileprivate static func identity(of item: ImportedItem) -> [String: String] {
        item.item.attributes.filter { name, _ in name != "xdg:schema" && !name.hasPrefix("keychain:") }
    }

    package var differences: [ImportedItem.Difference] { item.differences(from: present) }
}

extension [String: String] {
    /// The attributes without the schema that says as much as none.
    var withoutGenericSchema: [String: String] {
        guard self[Attributes.schema] == Attributes.genericSchema else { return self }
        return filter { name, _ in name != Attributes.schema }
    }
}
