import KeychaindModel
import KeychaindVault

/// Temporary permission of a client to read an item.
final class ItemGrant {
    /// The key of a sealed item, wiped with its last reference.
    let key: ItemKey?

    /// The caller, as stored in the audit.
    let caller: String

    /// Whether a rule stands in for the item's access control; such a grant ends with the rule.
    let isByRule: Bool

    /// Where its uses are audited: among what takes a person only if one has given it.
    let ring: AuditRing

    init(to caller: String, key: ItemKey?, in ring: AuditRing = .attended) {
        self.caller = caller
        self.key = key
        isByRule = false
        self.ring = ring
    }

    init(byRuleTo caller: String) {
        self.caller = caller
        key = nil
        isByRule = true
        ring = .unattended
    }
}

extension Collection {
    /// Opens the secret of an item, with the key of a grant if it is sealed; nil if it must be read from disk.
    func secret(of id: ItemID, under grant: ItemGrant?) throws(VaultError) -> Secret? {
        guard let key = grant?.key else { return try secret(of: id) }
        return try secret(of: id, with: key)
    }
}
