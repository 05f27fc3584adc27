import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel

/// A new private key, and what its item says about it.
struct GeneratedKey: ~Copyable, Sendable {
    let type: KeyType
    let bits: Int
    let publicKey: [UInt8]
    private let secret: SecureBytes

    init(_ key: KeyMaterial) throws(KeyError) {
        type = key.type
        bits = key.bits
        publicKey = key.publicBytes ?? []
        do throws(GcryptError) {
            secret = try key.withExternalRepresentation { (bytes) throws(GcryptError) in
                try SecureBytes(copying: bytes)
            }
        } catch {
            throw KeyError(error)
        }
    }

    init(_ key: TokenKey) throws(KeyError) {
        type = key.type
        bits = key.bits
        publicKey = key.publicKey
        secret = try key.stored()
    }

    /// The secret of its item.
    consuming func takeSecret() -> SecureBytes { secret }
}
