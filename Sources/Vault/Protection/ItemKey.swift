import Gcrypt
package import KeychainModel

/// The key of one item whose secret the collection's keys alone do not open.
///
/// It exists during sealing and, after an authentication, while it is held. 32 bytes in locked memory, wiped with the
/// last reference. It opens nothing after the item gets another key.
package final class ItemKey: Sendable {
    /// The ID of the item.
    package let item: ItemID

    /// The revision at which the key was created.
    let revision: UInt64

    /// The identifier of the collection.
    let collection: [UInt8]

    private let bytes: SecureBytes

    init(_ bytes: consuming SecureBytes, item: ItemID, revision: UInt64, collection: [UInt8]) {
        self.item = item
        self.revision = revision
        self.collection = collection
        self.bytes = bytes
    }

    /// Seals the plaintext of a secret.
    func seal(_ plaintext: borrowing SecureBytes, for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        let key = try SealingKey(bytes)
        return try plaintext.withUnsafeBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.seal(plaintext, associatedData: place)
            }
        }
    }

    /// Opens the plaintext of a secret.
    func open(_ sealed: borrowing SecureBytes, for place: AssociatedData) throws(GcryptError) -> SecureBytes {
        let key = try SealingKey(bytes)
        return try sealed.withUnsafeBytes { (sealed) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.open(sealed, associatedData: place)
            }
        }
    }
}
