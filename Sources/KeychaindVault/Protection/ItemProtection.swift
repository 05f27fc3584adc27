package import KeychaindModel

package enum ItemProtection: Equatable, Sendable {
    /// None: whoever may use the collection may use the item.
    case none

    /// The reserved attributes; possibly an accessibility without an access control.
    case stated(Protection)

    /// An unknown protection: the item is never released, but can be deleted.
    case unknown(reason: String)

    init(of attributes: Attributes) {
        guard attributes.hasReserved else {
            self = .none
            return
        }
        do throws(AccessControlError) {
            self = try Protection(of: attributes).map(ItemProtection.stated) ?? .none
        } catch {
            self = .unknown(reason: error.reason)
        }
    }

    package var needsAuthentication: Bool {
        switch self {
        case .none: false
        case .stated(let protection): protection.policy != nil
        case .unknown: true
        }
    }

    package var policy: Policy? {
        if case .stated(let protection) = self { protection.policy } else { nil }
    }

    /// The factors with key material in each alternative; nil when the secrets key alone seals the item.
    var keyAlternatives: [FactorSet]? { policy?.keyAlternatives }
}

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
            throw VaultError.itemChanged(record.id)
        }
    }

    /// Throws unless an item is still as a change assumes.
    func check(_ basis: PendingUpdate.Basis?, of record: ItemRecord) throws(VaultError) {
        guard let basis else { return }
        guard basis.protection == protection(of: record.id), basis.wraps == record.metadata.wraps else {
            throw VaultError(.authenticationNeeded, reason: "item \(record.id) got another protection meanwhile")
        }
        guard basis.secretRevision == nil || basis.secretRevision == record.metadata.secretRevision else {
            throw VaultError.itemChanged(record.id)
        }
    }
}
