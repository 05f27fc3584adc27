import KeychainModel

extension ItemTable {
    /// Throws unless the caller may change an item.
    func checkAuthorization(of id: ItemID, isAuthenticated: Bool) throws(VaultError) {
        guard isAuthenticated || !protection(of: id).needsAuthentication else {
            throw VaultError(.authenticationNeeded, reason: "item \(id) is protected")
        }
    }

    /// Throws unless an item has the revision that the authentication was for.
    func check(_ expected: ItemRevision?, of record: ItemRecord) throws(VaultError) {
        guard let expected else { return }
        guard expected.item == record.id, expected.number == record.revision else {
            throw VaultError(.busy, reason: "item \(record.id) was changed at the same time")
        }
    }

    /// Throws unless an item is still as a change assumes.
    func check(_ basis: ItemUpdate.Basis?, of record: ItemRecord) throws(VaultError) {
        guard let basis else { return }
        guard basis.protection == protection(of: record.id), basis.wraps == record.metadata.wraps else {
            throw VaultError(.authenticationNeeded, reason: "item \(record.id) got another protection meanwhile")
        }
        guard basis.secretRevision == nil || basis.secretRevision == record.metadata.secretRevision else {
            throw VaultError(.busy, reason: "item \(record.id) was changed at the same time")
        }
    }
}
