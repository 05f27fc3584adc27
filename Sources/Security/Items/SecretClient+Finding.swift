import KeychainModel
import SecretServiceClient

/// An item that a query is about.
struct Match: Sendable {
    let item: SecretItem
    let isLocked: Bool
    /// What is known of it, if that had to be read.
    var properties: SecretItem.Properties?
}

extension Attributes {
    /// Takes names and values, as the client library has them.
    init(_ dictionary: [String: String]) {
        self.init(dictionary.map { ($0.key, $0.value) })
    }
}

extension KeychainItem {
    /// Reads what a provider tells of an item.
    init(_ properties: SecretItem.Properties) {
        self.init(Attributes(properties.attributes), label: properties.label)
    }
}

extension ItemQuery {
    /// The class of what it is about; nil where that takes another call.
    func itemClass(of match: Match) -> ItemClass? {
        itemClass ?? match.properties.map { KeychainItem($0).itemClass }
    }
}

extension SecretClient {
    /// The items that a search is about, those made through Apple's API first.
    ///
    /// - Parameters:
    ///   - reference: the one item that is meant, if the query names one.
    ///   - limit: when so many are found, no more are looked for.
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
            if search.isWiderThanMeant {
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

    /// What is known of an item; nil if it has gone meanwhile.
    func properties(of item: SecretItem) async throws(SecretServiceError) -> SecretItem.Properties? {
        do throws(SecretServiceError) {
            return try await item.properties()
        } catch  where error.code == .noSuchObject {
            return nil
        }
    }
}
