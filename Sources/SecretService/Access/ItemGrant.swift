import Vault

/// A caller's permission for an item, for a while.
final class ItemGrant {
    /// What opens it, if it is sealed; wiped with the last reference.
    let key: ItemKey?

    /// Who has it, as the audit names them.
    let caller: String

    init(to caller: String, key: ItemKey?) {
        self.caller = caller
        self.key = key
    }
}
