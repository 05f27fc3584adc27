import KeychaindGcrypt
package import KeychaindModel

/// The key of one item whose secret the collection's keys alone do not open.
///
/// It exists during sealing and, after an authentication, while it is held: 32 bytes in locked memory, wiped with the
/// last reference. It opens nothing after the item gets another key.
package final class ItemKey: Sendable {
    package let item: ItemID

    let revision: UInt64
    let collection: [UInt8]

    private let bytes: SecureBytes

    init(_ bytes: consuming SecureBytes, item: ItemID, revision: UInt64, collection: [UInt8]) {
        self.item = item
        self.revision = revision
        self.collection = collection
        self.bytes = bytes
    }

    func seal(_ plaintext: borrowing SecureBytes, for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        let key = try SealingKey(bytes)
        return try plaintext.withUnsafeBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.seal(plaintext, associatedData: place)
            }
        }
    }

    func open(_ sealed: borrowing SecureBytes, for place: AssociatedData) throws(GcryptError) -> SecureBytes {
        let key = try SealingKey(bytes)
        return try sealed.withUnsafeBytes { (sealed) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.open(sealed, associatedData: place)
            }
        }
    }
}

/// The input for unwrapping an item key on the key-derivation thread.
struct ItemKeyOpener: Sendable {
    let wraps: [WrappedItemKey]

    let item: ItemID

    let revision: UInt64

    let collection: [UInt8]

    func open(passcode: PasscodeKey?, applicationPassword password: borrowing SecureBytes) throws(VaultError) -> ItemKey
    {
        let asksForPassword = wraps.contains { wrap in wrap.derivation != nil }
        guard let passcode else {
            if let key = try open(pair: nil, password: password) { return key }
            throw VaultError(.wrongApplicationPassword, reason: "the application password of item \(item) is wrong")
        }
        // All wraps of a key are for the passcode of one `login`; those of its own items do not name it.
        guard passcode.login == wraps.lazy.compactMap(\.login).first ?? collection else {
            throw VaultError(.wrongPassword, reason: "item \(item) is sealed to another passcode")
        }
        if let key = try open(pair: passcode.pair, password: password) { return key }
        guard asksForPassword else {
            throw VaultError(.unreadable, reason: "the wrapped key of item \(item) is damaged")
        }
        throw VaultError(.wrongApplicationPassword, reason: "the application password of item \(item) is wrong")
    }

    private func open(
        pair: borrowing X25519?,
        password: borrowing SecureBytes
    ) throws(VaultError) -> ItemKey? {
        for wrap in wraps {
            let key = try cipher { () throws(GcryptError) in
                try wrap.open(
                    passcode: pair,
                    applicationPassword: password,
                    item: item,
                    revision: revision,
                    collection: collection
                )
            }
            if let key { return key }
        }
        return nil
    }
}
