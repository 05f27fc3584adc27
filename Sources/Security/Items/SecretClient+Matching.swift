import KeychaindModel
import SecretServiceClient

extension SecretClient {
    /// The items that match a search, those added through Apple's API first, and among these the oldest.
    ///
    /// - Parameters:
    ///   - reference: the only item to consider, if any.
    ///   - limit: the maximum number of matches.
    ///   - withSecrets: whether to read secrets too, where that takes no further call and only those of matches.
    func matches(
        _ search: ItemSearch?,
        _ reference: PersistentReference?,
        limit: Int,
        withSecrets: Bool = false
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
        var found: [Match]
        if let records = try await records(search, withSecrets: withSecrets && isExact) {
            found = records.map { Match($0) }
        } else {
            found = try await matchesByPath(search, limit)
        }
        if search.coversGroups { found = Match.arrange(found, forOne: limit == 1, search.programGroup) }
        return Array(found.prefix(limit))
    }

    /// The match of a search for one item, in one call; nil if more results must be looked at.
    private func firstMatch(_ search: ItemSearch, _ withSecret: Bool) async throws(SecretServiceError) -> [Match]? {
        let own = search.coversGroups ? [search.ownOfProgram, search.own] : [search.own]
        let records = try await searchAndRead(own + search.foreign, limit: 1, withSecrets: withSecret)
        guard let records, let record = records.first else { return records.map { _ in [] } }
        return record.query < own.count || search.isMet(by: record) ? [Match(record)] : nil
    }

    /// The records of all matches; nil if the provider cannot read them at once.
    private func records(
        _ search: ItemSearch,
        withSecrets: Bool
    ) async throws(SecretServiceError) -> [SecretItemRecord]? {
        do throws(SecretServiceError) {
            let found = try await searchAndRead([search.own] + search.foreign, limit: nil, withSecrets: withSecrets)
            return found?.filter { record in record.query == 0 && !search.needsCheck || search.isMet(by: record) }
        } catch  where error.code == .limitExceeded {
            return nil
        }
    }

    /// The matches with providers that search for paths only, in the same order.
    private func matchesByPath(_ search: ItemSearch, _ limit: Int) async throws(SecretServiceError) -> [Match] {
        let own = try await self.search(search.own)
        var seen = Set(own.all)
        var found: [Match] = []
        if own.all.count == 1, !search.needsCheck {
            found = [Match(item: own.all[0], isLocked: own.unlocked.isEmpty)]
        } else {
            for item in own.all {
                guard let record = try await record(of: item) else { continue }
                if !search.needsCheck || search.isMet(by: record) { found.append(Match(record)) }
            }
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

    /// Leaves out items that differ from one of the program's only in their access group.
    ///
    /// - Parameters:
    ///   - forOne: whether to put the program's own items first.
    ///   - programGroup: the group of the program, and of items without one.
    fileprivate static func arrange(_ found: [Match], forOne: Bool, _ programGroup: String) -> [Match] {
        guard found.count > 1 else { return found }
        let isOwn = found.map { match in
            match.record.map { KeychainItem($0.properties).group(orProgram: programGroup) == programGroup } ?? true
        }
        guard isOwn.contains(false) else { return found }
        let own = zip(found, isOwn).filter(\.1).map(\.0)
        let keys = Set(own.compactMap(\.keyWithoutGroup))
        let shown = zip(found, isOwn).filter { match, isOwn in
            isOwn || match.keyWithoutGroup.map { !keys.contains($0) } ?? true
        }
        return forOne ? own + shown.filter { !$1 }.map(\.0) : shown.map(\.0)
    }

    /// The attributes that identify the item within its group; nil if they are unknown.
    private var keyWithoutGroup: Attributes? {
        guard let properties = record?.properties, !properties.attributes.isEmpty else { return nil }
        let item = KeychainItem(properties)
        return item.attributes.only(item.uniqueNames.filter { $0 != ReservedAttribute.accessGroup.rawValue })
    }
}
