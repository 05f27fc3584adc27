package import KeychaindModel

/// The items that a rule is about.
package struct RuleItems: Hashable, Sendable {
    package struct ItemPath: Hashable, Sendable {
        package let collection: CollectionName
        package let id: ItemID

        package init(_ id: ItemID, in collection: CollectionName) {
            self.collection = collection
            self.id = id
        }

        /// Parses the path of an item on the bus, with the real name of its collection.
        package init?(_ path: String) {
            guard path.hasPrefix(ItemPath.prefix) else { return nil }
            let parts = path.dropFirst(ItemPath.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let collection = CollectionName(encoded: parts[0]),
                let id = ItemID(decimal: parts[1])
            else { return nil }
            self.init(id, in: collection)
        }

        package var text: String { "\(ItemPath.prefix)\(collection.encoded)/\(id)" }

        private static let prefix = "/org/freedesktop/secrets/collection/"
    }

    package let item: ItemPath?
    package let collection: CollectionName?
    package let attributes: Attributes

    package init(_ item: ItemPath? = nil, in collection: CollectionName? = nil, with attributes: Attributes = [:]) {
        self.item = item
        self.collection = collection
        self.attributes = attributes
    }

    /// Parses the end of a line, and nothing else.
    package init(_ text: String) throws(RuleError) {
        guard text.utf8.count <= Rule.longest else { throw .tooLong }
        var words = try RuleWord.split(text)[...]
        try self.init(&words)
        if let word = words.first { throw .trailing(word.text) }
    }

    init(_ words: inout ArraySlice<RuleWord>) throws(RuleError) {
        guard let first = words.first, !first.isKeyword("until") else { throw .missingItem }
        if first.isKeyword("*") {
            words.removeFirst()
            if let next = words.first, !next.isKeyword("until") { throw .wildcardAmongOthers }
            self.init()
            return
        }
        var item: ItemPath?
        var collection: CollectionName?
        var pairs: [(String, String)] = []
        while let word = words.first, !word.isKeyword("until") {
            words.removeFirst()
            if word.isKeyword("*") { throw .wildcardAmongOthers }
            guard let (name, value) = word.pair else { throw .unknownItem(word.text) }
            switch name {
            case "item":
                guard item == nil else { throw .repeated(name) }
                item = ItemPath(value)
                if item == nil { throw .unknownItem(word.text) }
            case "collection":
                guard collection == nil else { throw .repeated(name) }
                collection = CollectionName(encoded: value)
                if collection == nil { throw .unknownItem(word.text) }
            default:
                let name = name.hasPrefix(RuleItems.marker) ? String(name.dropFirst(RuleItems.marker.count)) : name
                guard !name.isEmpty else { throw .unknownItem(word.text) }
                guard !pairs.contains(where: { $0.0 == name }) else { throw .repeated(name) }
                pairs.append((name, value))
            }
        }
        self.init(item, in: collection, with: Attributes(pairs))
    }

    private static let marker = "attribute:"

    package var text: String {
        var words: [String] = []
        if let item { words.append("item=\(item.text)") }
        if let collection { words.append("collection=\(collection.encoded)") }
        attributes.forEach { name, value in
            let name = String(cString: name)
            let isMarked = ["item", "collection"].contains(name) || name.hasPrefix(RuleItems.marker)
            let value = String(cString: value)
            let word = RuleQuotation.quote(name) + "=" + (value.isEmpty ? "" : RuleQuotation.quote(value))
            words.append(isMarked ? RuleItems.marker + word : word)
        }
        return words.isEmpty ? "*" : words.joined(separator: " ")
    }

    /// Whether the rule is about an item.
    package func matches(_ subject: RuleSubject) -> Bool {
        if let item, item != subject.item { return false }
        if let collection, collection != subject.collection { return false }
        return attributes.isEmpty || subject.attributes.contains(all: attributes)
    }

    /// How much the rule says about items.
    var weight: Int {
        if item != nil { return .max }
        return attributes.count * 2 + (collection == nil ? 0 : 1)
    }
}

/// An item, as rules see it.
package struct RuleSubject: Sendable {
    /// Nil for an item that is only described.
    package let item: RuleItems.ItemPath?
    package let collection: CollectionName?
    package let attributes: Attributes

    package init(_ item: RuleItems.ItemPath?, in collection: CollectionName?, with attributes: Attributes) {
        self.item = item
        self.collection = collection
        self.attributes = attributes
    }

    package init(_ id: ItemID, in collection: CollectionName, with attributes: Attributes) {
        self.init(RuleItems.ItemPath(id, in: collection), in: collection, with: attributes)
    }
}
