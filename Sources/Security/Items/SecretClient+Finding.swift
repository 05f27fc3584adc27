import KeychaindModel
import SecretServiceClient

/// An item that matches a query.
struct Match: Sendable {
    let item: SecretItem
    let isLocked: Bool
    /// Its properties, if they were read.
    var properties: SecretItem.Properties?
}

extension Attributes {
    /// Creates attributes from those of the client library.
    init(_ dictionary: [String: String]) {
        self.init(dictionary.map { ($0.key, $0.value) })
    }
}

extension KeychainItem {
    /// Creates an item from its properties.
    init(_ properties: SecretItem.Properties) {
        self.init(Attributes(properties.attributes), label: properties.label)
    }
}

extension ItemQuery {
    /// The class of a match; nil if it is unknown without another call.
    func itemClass(of match: Match) -> ItemClass? {
        itemClass ?? match.properties.map { KeychainItem($0).itemClass }
    }
}

extension SecretClient {
    /// The items that match a search, those added through Apple's API first.
    ///
    /// - Parameters:
    ///   - reference: the only item to consider, if any.
    ///   - limit: the maximum number of matches.
    func matches(
        _ search: ItemSearch?,
        _ reference: PersistentReference?,
        limit: Int
    ) async throws(SecretServiceError) -> [Match] {
        if let reference { return try await matches(search, at: reference) }
        guard let search else { return [] }
        var found: [Match] = []
        var seen: Set<SecretItem> = []
        let own = try await self.search(search.own)
        for (item, isLocked) in own.unlocked.map({ ($0, false) }) + own.locked.map({ ($0, true) }) {
            guard found.count < limit else { return found }
            seen.insert(item)
            var match = Match(item: item, isLocked: isLocked)
            if search.needsCheck {
                guard let properties = try await properties(of: item), search.isMet(by: properties) else { continue }
                match.properties = properties
            }
            found.append(match)
        }
        guard found.count < limit else { return found }
        for attributes in search.foreign {
            for item in try await self.search(attributes).all where seen.insert(item).inserted {
                guard found.count < limit else { return found }
                guard let properties = try await properties(of: item), search.isMet(by: properties) else { continue }
                found.append(Match(item: item, isLocked: properties.isLocked, properties: properties))
            }
        }
        return found
    }

    private func matches(
        _ search: ItemSearch?,
        at reference: PersistentReference
    ) async throws(SecretServiceError) -> [Match] {
        let item = try item(at: reference.path)
        guard let properties = try await properties(of: item) else { return [] }
        if let search, !search.isMet(by: properties) { return [] }
        return [Match(item: item, isLocked: properties.isLocked, properties: properties)]
    }

    /// The properties of an item; nil if it was deleted.
    func properties(of item: SecretItem) async throws(SecretServiceError) -> SecretItem.Properties? {
        do throws(SecretServiceError) {
            return try await item.properties()
        } catch  where error.code == .noSuchObject {
            return nil
        }
    }
}

extension SecretClient {
    /// Finds items, and reads the requested parts.
    func read(_ query: ItemQuery, _ search: ItemSearch?) async throws(SecretServiceError) -> [FoundItem] {
        try await ItemUnlocking.during(query, on: self) { (unlocking) throws(SecretServiceError) in
            try await read(query, search, unlocking)
        }
    }

    private func read(
        _ query: ItemQuery,
        _ search: ItemSearch?,
        _ unlocking: ItemUnlocking
    ) async throws(SecretServiceError) -> [FoundItem] {
        let limit = query.limit?.count ?? 1
        // Skipped locked items make room for others.
        let isBounded = query.interaction != .skip
        var matches = try await matches(search, query.reference, limit: isBounded ? limit : .max)
        if query.interaction == .skip || matches.contains(where: { query.needsSecret(of: query.itemClass(of: $0)) }) {
            matches = try await unlocking.open(matches, allAreNeeded: false)
        }
        var found: [FoundItem] = []
        for match in matches {
            guard found.count < limit else { break }
            if let item = try await read(match, query, unlocking) { found.append(item) }
        }
        return found
    }

    private func read(
        _ match: Match,
        _ query: ItemQuery,
        _ unlocking: ItemUnlocking
    ) async throws(SecretServiceError) -> FoundItem? {
        var found = FoundItem(reference: PersistentReference(path: match.item.path))
        found.itemClass = query.itemClass(of: match)
        do throws(SecretServiceError) {
            if query.needsSecret(of: found.itemClass) {
                found.data = try await unlocking.using(match.item) { () throws(SecretServiceError) in
                    try await match.item.secret(prompting: .never).bytes
                }
            }
            if query.needsAttributes(of: found.itemClass) {
                var properties = match.properties
                if properties == nil { properties = try await match.item.properties() }
                if properties?.attributes.isEmpty == true {
                    // Attributes are sealed until the first unlock of the collection.
                    _ = try await unlocking.unlock([match.item])
                    properties = try await match.item.properties()
                }
                found.properties = properties
                found.item = properties.map { KeychainItem($0) }
            }
            return found
        } catch  where error.code == .noSuchObject {
            // Deleted meanwhile.
            return nil
        } catch  where query.interaction == .skip && [.locked, .interactionNotAllowed].contains(error.code) {
            return nil
        }
    }
}
