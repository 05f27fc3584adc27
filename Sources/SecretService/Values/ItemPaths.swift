import DBus
import KeychainModel

/// The paths of items of a collection, written without making a string of each.
struct ItemPaths: WritableValue {
    private var groups: [(collection: CollectionName, ids: [ItemID])]

    init(_ ids: [ItemID], in collection: CollectionName) {
        groups = [(collection, ids)]
    }

    init() {
        groups = []
    }

    mutating func append(_ ids: [ItemID], in collection: CollectionName) {
        if !ids.isEmpty {
            groups.append((collection, ids))
        }
    }

    mutating func append(_ id: ItemID, in collection: CollectionName) {
        if groups.last?.collection == collection {
            groups[groups.count - 1].ids.append(id)
        } else {
            groups.append((collection, [id]))
        }
    }

    /// How many bytes the list takes in a message, at most.
    var byteCount: Int {
        groups.reduce(0) { $0 + $1.ids.count * ItemPathBuffer.maximumByteCount(in: $1.collection) }
    }

    static var signature: String { [ObjectPath].signature }

    func write(to writer: inout Writer) {
        writer.writeArray(of: ObjectPath.signature) { writer in
            for group in groups {
                var path = ItemPathBuffer(collection: group.collection)
                for id in group.ids {
                    path.withPath(of: id) { writer.writeObjectPath($0) }
                }
            }
        }
    }
}
