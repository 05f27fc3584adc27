import KeychainModel
import Vault

extension Collection {
    /// Opens the secret of an item, by the key of a grant if it is sealed; nil if it has to be read first.
    func secret(of id: ItemID, under grant: ItemGrant?) throws(VaultError) -> Secret? {
        guard let key = grant?.key else { return try secret(of: id) }
        return try secret(of: id, with: key)
    }
}
