import KeychaindModel
import SecretServiceClient

extension ItemQuery {
    /// Reads one password without the event loop; nil if the query or the password takes more.
    func readDirectly(_ search: ItemSearch?) throws(StatusError) -> [FoundItem]? {
        // The grants of a context belong to another connection.
        guard let search, reference == nil, limit?.count ?? 1 == 1, interaction != .skip, context == nil,
            search.itemClass == .genericPassword || search.itemClass == .internetPassword, !search.needsCheck
        else { return nil }
        // Most passwords are the program's own, and keychaind reads every query that it gets.
        let first = search.coversGroups ? search.ownOfProgram : search.own
        guard let found = try records([first], own: 1) else { return nil }
        if let record = found.first { return result(record) }
        let own = search.coversGroups ? [search.own] : []
        let rest = own + search.foreign
        guard !rest.isEmpty else { return [] }
        guard let found = try records(rest, own: own.count) else { return nil }
        guard let record = found.first else { return [] }
        // Of other programs' items, a later one may match.
        return record.query < own.count || search.isMet(by: record) ? result(record) : nil
    }

    /// - Parameter own: the number of queries whose items match without a check.
    private func records(_ queries: [[String: String]], own: Int) throws(StatusError) -> [SecretItemRecord]? {
        do throws(SecretServiceError) {
            return try SharedClient.shared.searchDirectly(
                queries,
                described: needsAttributes(of: itemClass) ? 0 : own,
                withSecret: returns.contains(.data)
            )
        } catch {
            throw StatusError(error)
        }
    }

    /// Nil if the item must be unlocked first.
    private func result(_ record: SecretItemRecord) -> [FoundItem]? {
        var found = FoundItem(reference: PersistentReference(path: record.item.path))
        found.itemClass = itemClass
        found.authentication = authentication
        if returns.contains(.data) {
            guard let secret = record.secret else { return nil }
            found.data = secret
        }
        if needsAttributes(of: itemClass) {
            guard !record.properties.attributes.isEmpty else { return nil }
            found.item = KeychainItem(record.properties)
            found.times = ItemTimes(record)
        }
        return [found]
    }
}
