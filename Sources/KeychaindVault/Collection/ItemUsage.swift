import KeychaindModel

/// How much items take: labels, attributes and sealed secrets.
struct ItemUsage: Sendable {
    var items = 0
    var bytes = 0

    static func + (first: ItemUsage, second: ItemUsage) -> ItemUsage {
        ItemUsage(items: first.items + second.items, bytes: first.bytes + second.bytes)
    }

    static func - (first: ItemUsage, second: ItemUsage) -> ItemUsage {
        ItemUsage(items: first.items - second.items, bytes: first.bytes - second.bytes)
    }
}

extension ItemUsage {
    init(of metadata: ItemMetadata, secretBytes: Int) {
        self.init(items: 1, bytes: metadata.textBytes + secretBytes)
    }

    init(of record: ItemRecord) {
        self.init(of: record.metadata, secretBytes: Int(record.secretBytes))
    }
}

extension ItemTable {
    /// What the items with an attribute take.
    func usage(ofTag tag: UInt64) -> ItemUsage {
        var usage = ItemUsage()
        index[tag].forEach { position in usage = usage + ItemUsage(of: records[Int(position)]) }
        return usage
    }
}
