extension KeychainItem {
    /// The names of the item's attributes that no two items of its class may have the same values of.
    package var uniqueNames: [String] {
        let rules = itemClass.rules.filter { itemClass.primaryKey.contains($0.attribute) }
        return [Self.className] + rules.map { name(of: $0) }
    }

    /// The search that finds only items that say themselves which class they are, as those made through Apple's API do.
    package var markedSearch: Attributes? {
        searches.first.map { Attributes($0.pairs + [(Self.className, itemClass.rawValue)]) }
    }
}
