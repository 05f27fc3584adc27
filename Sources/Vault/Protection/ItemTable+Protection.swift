import KeychainModel

extension ItemTable {
    /// Throws unless an item may be changed by who was authenticated for it, or by who was not.
    func checkAuthorization(of id: ItemID, isAuthenticated: Bool) throws(VaultError) {
        guard isAuthenticated || !protection(of: id).needsAuthentication else {
            throw VaultError(.authenticationNeeded, reason: "item \(id) is protected")
        }
    }

    /// Throws unless an item is still in the state that somebody was authenticated for.
    func check(_ expected: ItemRevision?, of record: ItemRecord) throws(VaultError) {
        guard let expected else { return }
        guard expected.item == record.id, expected.number == record.revision else {
            throw VaultError(.busy, reason: "item \(record.id) was changed at the same time")
        }
    }

    /// Throws unless an item is still what a change of it was worked out from.
    func check(_ basis: ItemUpdate.Basis?, of record: ItemRecord) throws(VaultError) {
        guard let basis else { return }
        guard basis.protection == protection(of: record.id), basis.wraps == record.metadata.wraps else {
            throw VaultError(.authenticationNeeded, reason: "item \(record.id) was protected otherwise meanwhile")
        }
        guard basis.secretRevision == nil || basis.secretRevision == record.metadata.secretRevision else {
            throw VaultError(.busy, reason: "item \(record.id) was changed at the same time")
        }
    }
}
