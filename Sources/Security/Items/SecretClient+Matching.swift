import KeychaindModel
import SecretServiceClient

extension SecretClient {
    /// The items that match a search, those added through Apple's API first, and among these the oldest.
    ///
    /// - Parameters:
    ///   - reference: the only item to consider, if any.
    ///   - limit: the maximum number of matches.
    ///   - withSecrets: whether to read secrets too, where that takes no further call and only those of matches.
    ///   - unlocking: unlocks items whose attributes are not known before; nil to count them as matches.
    func matches(
        _ search: ItemSearch?,
        _ reference: PersistentReference?,
        limit: Int,
        withSecrets: Bool = false,
        unlockedBy unlocking: ItemUnlocking? = nil
    ) async throws(SecretServiceError) -> [Match] {
        let found = try await matches(search, reference, limit, withSecrets)
        let sealed = found.filter { $0.record?.isSealed == true }
        guard let unlocking, !sealed.isEmpty, try await !unlocking.unlock(sealed.map(\.item)).isEmpty else {
            return found
        }
        return try await matches(search, reference, limit, withSecrets)
    }

    private func matches(
        _ search: ItemSearch?,
        _ reference: PersistentReference?,
        _ limit: Int,
        _ withSecrets: Bool
    ) async throws(SecretServiceError) -> [Match] {
        if let reference {
            let item = try item(at: reference.path)
            guard let record = try await record(of: item, withSecret: withSecrets) else { return [] }
            if let search, !search.isMet(by: record) { return [] }
            return [Match(record)]
        }
        guard let search else { return [] }
        if limit == 1, !search.needsCheck, let found = try await firstMatch(search, withSecrets) { return found }
        let isExact = limit == .max && !search.needsCheck
        let records = try await records(search, withSecrets: withSecrets && isExact)
        let found = if let records { records.map { Match($0) } } else { try await matchesByPath(search, limit) }
        return Array(found.prefix(limit))
    }

    /// The match of a search for one item, in one call; nil if more results must be looked at.
    private func firstMatch(_ search: ItemSearch, _ withSecret: Bool) async throws(SecretServiceError) -> [Match]? {
        let records = try await searchAndRead([search.own] + search.foreign, limit: 1, withSecrets: withSecret)
        guard let records, let record = records.first else { return records.map { _ in [] } }
        return search.isMet(by: record) ? [Match(record)] : nil
    }

    /// The records of all matches; nil if the provider cannot read them at once.
    private func records(
        _ search: ItemSearch,
        withSecrets: Bool
    ) async throws(SecretServiceError) -> [SecretItemRecord]? {
        do throws(SecretServiceError) {
            let found = try await searchAndRead([search.own] + search.foreign, limit: nil, withSecrets: withSecrets)
            return found?.filter(search.isMet)
        } catch  where error.code == .limitExceeded {
            return nil
        }
    }

    /// The matches with providers that search for paths only, in the same order.
    private func matchesByPath(_ search: ItemSearch, _ limit: Int) async throws(SecretServiceError) -> [Match] {
        let own = try await self.search(search.own)
        var seen = Set(own.all)
        var found: [Match] = []
        for item in own.all {
            guard let record = try await record(of: item), search.isMet(by: record) else { continue }
            found.append(Match(record))
        }
        found.sort(by: Match.isOlder)
        guard found.count < limit else { return found }
        var others: [Match] = []
        for attributes in search.foreign {
            for item in try await self.search(attributes).all where seen.insert(item).inserted {
                guard let record = try await record(of: item), search.isMet(by: record) else { continue }
                others.append(Match(record))
            }
        }
        return found + others.sorted(by: Match.isOlder)
    }

    /// The properties of an item, and its secret if requested and unlocked; nil if it was deleted.
    ///
    /// Other providers than keychaind never return the secret.
    func record(
        of item: SecretItem,
        withSecret: Bool = false
    ) async throws(SecretServiceError) -> SecretItemRecord? {
        if let records = try await read([item], withSecrets: withSecret) { return records.first }
        do throws(SecretServiceError) {
            return SecretItemRecord(item, try await item.properties())
        } catch  where error.code == .noSuchObject {
            return nil
        }
    }
}

extension Match {
    /// The order of creation; items of one second are in the order of their paths, which end in rising numbers.
    fileprivate static func isOlder(_ first: Match, _ second: Match) -> Bool {
        let created = (first.record?.created ?? 0, second.record?.created ?? 0)
        guard created.0 == created.1 else { return created.0 < created.1 }
        let paths = (first.item.path, second.item.path)
        return paths.0.utf8.count == paths.1.utf8.count
            ? paths.0 < paths.1 : paths.0.utf8.count < paths.1.utf8.count
    }
}
