import KeychainModel
import SecretServiceClient

extension SecretClient {
    /// Finds items and reads of them what a query wants; empty if there are none.
    func read(_ query: ItemQuery, _ search: ItemSearch?) async throws(SecretServiceError) -> [FoundItem] {
        let limit = query.limit?.count ?? 1
        // Locked ones may have to be left out, and then others take their place.
        let isBounded = query.interaction != .skip
        var found: [FoundItem] = []
        for match in try await matches(search, query.reference, limit: isBounded ? limit : .max) {
            guard found.count < limit else { break }
            if let item = try await read(match, query) { found.append(item) }
        }
        return found
    }

    private func read(_ match: Match, _ query: ItemQuery) async throws(SecretServiceError) -> FoundItem? {
        var found = FoundItem(reference: PersistentReference(path: match.item.path))
        do throws(SecretServiceError) {
            if query.interaction == .skip, match.isLocked { return nil }
            if query.returns.contains(.data) {
                found.data = try await match.item.secret(prompting: query.prompting).bytes
            }
            if query.returns.contains(.attributes) {
                var properties = match.properties
                if properties == nil { properties = try await match.item.properties() }
                if properties?.attributes.isEmpty == true {
                    // Sealed until the collection has been unlocked for the first time.
                    try await match.item.unlock(prompting: query.prompting)
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
