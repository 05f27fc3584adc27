import KeychainModel
import SecretServiceClient

extension SecretClient {
    /// Stores an item.
    ///
    /// Throws ``SecretServiceError/Code/alreadyExists`` if there is one with the same primary key.
    func add(_ item: KeychainItem, _ query: ItemQuery) async throws(SecretServiceError) -> FoundItem {
        if item[.accessControl] != nil, try await !enforcesAccessControl() {
            throw SecretServiceError(.notSupported, "the provider does not enforce access control")
        }
        let collection = try await collectionToAddTo(query.prompting)
        let secret = try Secret(query.data ?? [])
        let made = try await create(item, secret, in: collection, query.prompting)
        var found = FoundItem(reference: PersistentReference(path: made.path))
        found.data = query.data ?? []
        if query.returns.contains(.attributes) {
            let properties = try await made.properties()
            found.properties = properties
            found.item = KeychainItem(properties)
        }
        return found
    }

    private func create(
        _ item: KeychainItem,
        _ secret: borrowing Secret,
        in collection: SecretCollection,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> SecretItem {
        let (label, attributes) = (item.storedLabel, item.attributes.dictionary)
        if let made = try await collection.createUniqueItem(
            label: label,
            attributes: attributes,
            unique: item.uniqueNames,
            secret: secret,
            prompting: prompting
        ) {
            return made
        }
        // Other providers cannot do both at once: of two programs in the same moment both may succeed.
        guard try await others(with: attributes, item.uniqueNames, than: nil).isEmpty else {
            throw SecretServiceError(.alreadyExists, "there is an item with the same primary key")
        }
        return try await collection.createItem(
            label: label,
            attributes: attributes,
            secret: secret,
            prompting: prompting
        )
    }

    private func collectionToAddTo(_ prompting: SecretPrompting) async throws(SecretServiceError) -> SecretCollection {
        if let collection = try await defaultCollection() { return collection }
        return try await createCollection(label: "Login", alias: "default", prompting: prompting)
    }

    /// Changes every item that a query is about.
    ///
    /// - Returns: how many there were.
    func update(
        _ query: ItemQuery,
        _ search: ItemSearch?,
        with changes: ItemQuery
    ) async throws(SecretServiceError) -> Int {
        let matches = try await matches(search, query.reference, limit: .max)
        for match in matches where query.interaction != .skip || !match.isLocked {
            try await update(match, with: changes, query.prompting)
        }
        return matches.count
    }

    private func update(
        _ match: Match,
        with changes: ItemQuery,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) {
        let item = match.item
        if changes.values[.accessControl] != nil, try await !enforcesAccessControl() {
            throw SecretServiceError(.notSupported, "the provider does not enforce access control")
        }
        if !changes.values.isEmpty || changes.synchronizable != nil || changes.label != nil {
            try await unlocking(item, prompting) { () throws(SecretServiceError) in
                try await change(item, by: changes)
            }
        }
        if let data = changes.data {
            try await item.setSecret(try Secret(data), prompting: prompting)
        }
    }

    private func change(_ item: SecretItem, by changes: ItemQuery) async throws(SecretServiceError) {
        let before = try await item.properties()
        var changed = KeychainItem(before)
        do throws(StatusError) {
            for (attribute, value) in changes.values {
                try changed.setChecked(attribute, attribute == .port && value.isEmpty ? nil : value)
            }
            if let synchronizable = changes.synchronizable {
                try changed.setChecked(.synchronizable, .boolean(synchronizable == .yes))
            }
        } catch {
            throw SecretServiceError(.invalidArguments, error.reason)
        }
        changed.label = changes.label ?? changed.label
        let after = changed.attributes.dictionary
        if after != before.attributes {
            guard try await others(with: after, changed.uniqueNames, than: item, before: before.attributes).isEmpty
            else {
                throw SecretServiceError(.alreadyExists, "there is an item with the same primary key")
            }
            try await item.setAttributes(after)
        }
        if changed.storedLabel != before.label { try await item.setLabel(changed.storedLabel) }
    }

    /// Deletes every item that a query is about.
    ///
    /// - Returns: how many there were.
    func delete(_ query: ItemQuery, _ search: ItemSearch?) async throws(SecretServiceError) -> Int {
        var count = 0
        for match in try await matches(search, query.reference, limit: query.limit?.count ?? .max) {
            if query.interaction == .skip, match.isLocked { continue }
            do throws(SecretServiceError) {
                try await unlocking(match.item, query.prompting) { () throws(SecretServiceError) in
                    try await match.item.delete(prompting: query.prompting)
                }
                count += 1
            } catch  where error.code == .noSuchObject {
                continue
            }
        }
        return count
    }

    /// The items, other than one, with the same values of some attributes; none if that one's are not to change.
    private func others(
        with attributes: [String: String],
        _ names: [String],
        than item: SecretItem?,
        before: [String: String]? = nil
    ) async throws(SecretServiceError) -> [SecretItem] {
        let key = attributes.filter { names.contains($0.key) }
        if let before, before.filter({ names.contains($0.key) }) == key { return [] }
        var found: [SecretItem] = []
        for other in try await search(key).all where other != item {
            guard let properties = try await properties(of: other) else { continue }
            if properties.attributes.filter({ names.contains($0.key) }) == key { found.append(other) }
        }
        return found
    }

    /// Does something with an item, and if it is locked, once more after unlocking it.
    private func unlocking(
        _ item: SecretItem,
        _ prompting: SecretPrompting,
        _ operation: () async throws(SecretServiceError) -> Void
    ) async throws(SecretServiceError) {
        do throws(SecretServiceError) {
            try await operation()
        } catch  where error.code == .locked && prompting.isAllowed {
            try await item.unlock(prompting: prompting)
            try await operation()
        }
    }
}
