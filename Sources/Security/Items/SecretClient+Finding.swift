import KeychaindModel
import SecretServiceClient

/// An item that matches a query.
struct Match: Sendable {
    let item: SecretItem
    let isLocked: Bool
    /// Its properties, and its secret if requested, if they were read.
    var record: SecretItemRecord?
}

extension Match {
    init(_ record: SecretItemRecord) {
        self.init(item: record.item, isLocked: record.properties.isLocked, record: record)
    }
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
        itemClass ?? match.record.map { KeychainItem($0.properties).itemClass }
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
        let conditions = query.contentConditions
        // Skipped items make room for others.
        let isBounded = query.interaction != .skip && conditions == nil
        var matches = try await matches(
            search,
            query.reference,
            limit: isBounded ? limit : .max,
            withSecrets: isBounded && query.needsAllSecrets,
            unlockedBy: query.returns.isSubset(of: .persistentReference) ? nil : unlocking
        )
        if query.returns.contains(.reference), search?.itemClass == .key {
            // The attributes say which keys are used without their secrets.
            for index in matches.indices where matches[index].record == nil {
                matches[index].record = try await record(of: matches[index].item)
            }
        }
        if query.interaction == .skip || matches.contains(where: query.needsSecret) {
            matches = try await readMissingSecrets(of: matches, query)
            matches = try await unlocking.open(matches, allAreNeeded: false)
        }
        var found: [FoundItem] = []
        for match in matches {
            guard found.count < limit else { break }
            guard let item = try await read(match, query, unlocking) else { continue }
            if let conditions, try await !areMet(conditions, by: item) { continue }
            found.append(item)
        }
        return found
    }

    /// Reads the secrets of several unlocked items in one call, if the provider can.
    private func readMissingSecrets(
        of matches: [Match],
        _ query: ItemQuery
    ) async throws(SecretServiceError) -> [Match] {
        let missing = matches.filter { match in
            !match.isLocked && match.record?.secret == nil && query.needsSecret(of: match)
        }
        guard missing.count > 1 else { return matches }
        do throws(SecretServiceError) {
            guard let records = try await read(missing.map(\.item), withSecrets: true) else { return matches }
            let read = Dictionary(records.map { ($0.item, $0) }) { first, _ in first }
            return matches.map { match in read[match.item].map { Match($0) } ?? match }
        } catch  where error.code == .limitExceeded {
            return matches
        }
    }

    private func read(
        _ match: Match,
        _ query: ItemQuery,
        _ unlocking: ItemUnlocking
    ) async throws(SecretServiceError) -> FoundItem? {
        var found = FoundItem(reference: PersistentReference(path: match.item.path))
        found.itemClass = query.itemClass(of: match)
        found.authentication = query.authentication
        var match = match
        do throws(SecretServiceError) {
            if query.needsAttributes(of: found.itemClass) {
                if match.record == nil { match.record = try await record(of: match.item) }
                guard let record = match.record else { return nil }
                found.times = ItemTimes(record)
                found.item = KeychainItem(record.properties)
            }
            if query.needsSecret(of: match) {
                found.data = match.record?.secret
                if found.data == nil {
                    found.data = try await secret(of: match.item, isKey: found.itemClass == .key, query, unlocking)
                }
            }
            return found
        } catch  where error.code == .noSuchObject {
            // Deleted meanwhile.
            return nil
        } catch  where query.interaction == .skip && [.locked, .interactionNotAllowed].contains(error.code) {
            return nil
        }
    }

    /// The secret; nil for one of many keys that is only used.
    private func secret(
        of item: SecretItem,
        isKey: Bool,
        _ query: ItemQuery,
        _ unlocking: ItemUnlocking
    ) async throws(SecretServiceError) -> [UInt8]? {
        guard isKey else {
            return try await unlocking.using(item) { () throws(SecretServiceError) in
                try await item.secret(prompting: .never).bytes
            }
        }
        do throws(SecretServiceError) {
            return try await unlocking.secret(ofKey: item)
        } catch  where error.code == .notSupported && (query.limit?.count ?? 1) > 1 {
            return nil
        }
    }
}
