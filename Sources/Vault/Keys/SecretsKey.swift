import Gcrypt
import KeychainModel

/// The key of a collection's secrets: there while the collection is unlocked, wiped with the last reference when it is locked.
final class SecretsKey: Sendable {
    /// By how much a sealed secret is longer than the secret, at least: the content type comes on top.
    static let overhead = SealingKey.overhead + 2

    private let key: SealingKey
    private let collection: [UInt8]

    /// Derives the key from the master key.
    init(master: borrowing SecureBytes, collection: [UInt8]) throws(GcryptError) {
        self.collection = collection
        key = try SealingKey(KeyPurpose.secrets.derive(from: master, collection: collection))
    }

    /// Seals a secret and its content type for an item.
    ///
    /// The plaintext is: length of the content type (2), content type, secret.
    func seal(_ secret: borrowing Secret, item: UInt64, revision: UInt64) throws(GcryptError) -> [UInt8] {
        let contentType = Array(secret.contentType.utf8)
        var plaintext = try SecureBytes(count: 2 + contentType.count + secret.bytes.count)
        plaintext.withUnsafeMutableBytes { plaintext in
            plaintext.storeBytes(of: UInt16(clamping: contentType.count).bigEndian, as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: plaintext[2...]).copyBytes(from: contentType)
            secret.bytes.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: plaintext[(2 + contentType.count)...]).copyMemory(from: bytes)
            }
        }
        let place = place(item: item, revision: revision)
        return try plaintext.withUnsafeBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.seal(plaintext, associatedData: place)
            }
        }
    }

    /// Opens an item's sealed secret; `unreadable` when it is not what was sealed.
    func open(_ sealed: [UInt8], item: UInt64, revision: UInt64) throws(VaultError) -> Secret {
        do throws(GcryptError) {
            let place = place(item: item, revision: revision)
            let plaintext = try sealed.withRawBytes { (sealed) throws(GcryptError) in
                try place.withBytes { (place) throws(GcryptError) in
                    try key.open(sealed, associatedData: place)
                }
            }
            let secret: Secret? = try plaintext.withUnsafeBytes { (bytes) throws(GcryptError) in
                var reader = ByteReader(bytes)
                guard let length = reader.integer(UInt16.self), let contentType = reader.bytes(Int(length)) else {
                    return nil
                }
                return Secret(
                    bytes: try SecureBytes(copying: reader.remaining),
                    contentType: String(decoding: contentType, as: UTF8.self)
                )
            }
            guard let secret else {
                throw GcryptError(.authenticationFailed, reason: "the secret has another form than this version writes")
            }
            return secret
        } catch {
            throw VaultError(error)
        }
    }

    private func place(item: UInt64, revision: UInt64) -> AssociatedData {
        var place = AssociatedData(collection: collection, column: .secret)
        place.set(item: item, column: .secret, revision: revision)
        return place
    }
}
