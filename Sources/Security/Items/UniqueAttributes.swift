import KeychaindModel
import SecretServiceClient

/// The attributes that identify an item, as another one without an access group would have them.
struct UniqueAttributes: Hashable, Sendable {
    private let values: Attributes
    private let names: [String]
    private let group: String
    private let programGroup: String

    init(_ item: KeychainItem, _ programGroup: String) {
        names = item.uniqueNames.filter { $0 != ReservedAttribute.accessGroup.rawValue }
        values = item.attributes.only(names)
        group = item.group(orProgram: programGroup)
        self.programGroup = programGroup
    }

    /// The attributes to search for; the found items may have more.
    var search: [String: String] { values.dictionary }

    /// Whether an item with these properties has the same values, and the same group or none where that is the
    /// program's.
    func isMet(by properties: SecretItem.Properties) -> Bool {
        let item = KeychainItem(properties)
        return Attributes(properties.attributes).only(names) == values && item.group(orProgram: programGroup) == group
    }
}

extension SecretClient {
    /// Whether another item is identified by these attributes, in any collection.
    ///
    /// keychaind checks again in the step that adds or changes the item, but in one collection only, and without items
    /// of earlier versions, which have no access group.
    func isTaken(
        _ key: UniqueAttributes,
        except item: SecretItem? = nil,
        unlockedBy unlocking: ItemUnlocking? = nil
    ) async throws(SecretServiceError) -> Bool {
        var records = try await records(key.search)
        let unread = records.filter { $0.properties.isLocked && $0.properties.attributes.isEmpty }
        if !unread.isEmpty, let unlocking {
            // Attributes are sealed until the first unlock, which adding an item takes anyway.
            _ = try await unlocking.unlock(unread.map(\.item))
            records = try await self.records(key.search)
        }
        return records.contains { $0.item != item && key.isMet(by: $0.properties) }
    }

    private func records(_ attributes: [String: String]) async throws(SecretServiceError) -> [SecretItemRecord] {
        do throws(SecretServiceError) {
            if let found = try await searchAndRead([attributes], limit: nil, withSecrets: false) { return found }
        } catch  where error.code == .limitExceeded {
            // The items are read one by one.
        }
        var records: [SecretItemRecord] = []
        for item in try await search(attributes).all {
            if let record = try await record(of: item) { records.append(record) }
        }
        return records
    }
}
