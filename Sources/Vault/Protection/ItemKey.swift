import Gcrypt
package import KeychainModel

/// The key of one item whose secret the collection's own keys do not open.
///
/// It exists while the item is sealed, and from an authentication on for as long as somebody keeps it. Its 32 bytes lie in locked
/// memory and are wiped with the last reference. It opens nothing once the item has got another key.
package final class ItemKey: Sendable {
    /// The item that it belongs to.
    package let item: ItemID

    /// The revision at which it was made.
    let revision: UInt64

    /// The collection of the item.
    let collection: [UInt8]

    private let bytes: SecureBytes

    init(_ bytes: consuming SecureBytes, item: ItemID, revision: UInt64, collection: [UInt8]) {
        self.item = item
        self.revision = revision
        self.collection = collection
        self.bytes = bytes
    }

    /// Seals the plaintext of the secret.
    func seal(_ plaintext: borrowing SecureBytes, for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        let key = try SealingKey(bytes)
        return try plaintext.withUnsafeBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.seal(plaintext, associatedData: place)
            }
        }
    }

    /// Opens the plaintext of the secret.
    func open(_ sealed: borrowing SecureBytes, for place: AssociatedData) throws(GcryptError) -> SecureBytes {
        let key = try SealingKey(bytes)
        return try sealed.withUnsafeBytes { (sealed) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.open(sealed, associatedData: place)
            }
        }
    }
}
