import KeychainModel
import SecretServiceClient

extension SecretClient {
    /// Finds items and reads of them what a query wants; empty if there are none.
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
        // Locked ones may have to be left out, and then others take their place.
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
                    // Sealed until the collection has been unlocked for the first time.
                    _ = try await unlocking.unlock([match.item])
                    properties = try await match.item.properties()
                }
                found.properties = properties
                found.item = properties.map { KeychainItem($0) }
            }
            return found
        } catch  where error.code == .noSuchObject {
            // Deleted since it was found.
            return nil
        } catch  where query.interaction == .skip && [.locked, .interactionNotAllowed].contains(error.code) {
            return nil
        }
    }
}
