import Gcrypt
import KeychainModel

/// The key of a collection's secrets: there while the collection is unlocked, wiped with the last reference when it is locked.
final class SecretsKey: Sendable {
    /// By how much a sealed secret is longer than the secret, at least: the content type comes on top.
    static let overhead = SealingKey.overhead + 2

    private let key: SealingKey
    private let collection: [UInt8]
    // What secrets are bound to, but for the item.
    private let template: AssociatedData

    // As it was derived, for the process that comes after this one.
    private let bytes: SecureBytes

    /// Derives the key from the master key.
    convenience init(master: borrowing SecureBytes, collection: [UInt8]) throws(GcryptError) {
        try self.init(KeyPurpose.secrets.derive(from: master, collection: collection), collection: collection)
    }

    /// Takes the key that another process has derived.
    init(_ bytes: consuming SecureBytes, collection: [UInt8]) throws(GcryptError) {
        self.collection = collection
        template = AssociatedData(collection: collection, column: .secret)
        key = try SealingKey(bytes)
        self.bytes = bytes
    }

    /// The size of an application's secret in bytes.
    static let applicationSecretSize = 64

    /// The secret of an application: HKDF-SHA256 of this key, with the collection's identifier as salt.
    func applicationSecret(for application: String) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(
            from: bytes,
            salt: collection,
            info: Array("keychaind 1 application \(application)".utf8),
            count: Self.applicationSecretSize,
            in: .locked
        )
    }

    /// Gives the key to a closure.
    func withKey(_ body: (borrowing SecureBytes) -> Void) {
        body(bytes)
    }

    /// Seals a secret and its content type for an item.
    func seal(_ secret: borrowing Secret, item: UInt64, revision: UInt64) throws(GcryptError) -> [UInt8] {
        let plaintext = try SecretEncoding.encode(secret)
        let place = place(item: item, column: .secret, revision: revision)
        return try seal(plaintext, for: place)
    }

    /// Seals a secret under the key of its item, and what comes of it under this one: it takes both to open it.
    func seal(
        _ secret: borrowing Secret,
        under itemKey: ItemKey,
        item: UInt64,
        revision: UInt64
    ) throws(GcryptError) -> [UInt8] {
        let plaintext = try SecretEncoding.encode(secret)
        let place = place(item: item, column: .protectedSecret, revision: revision)
        let inner = try itemKey.seal(plaintext, for: place)
        return try seal(SecureBytes(copying: inner), for: place)
    }

    /// Seals the new secret of a row, under the key of the item too if there is one.
    func seal(_ secret: borrowing Secret, of row: ItemRow) throws(GcryptError) -> [UInt8] {
        let (item, revision) = (row.id.rawValue, row.metadata.secretRevision)
        guard let key = row.key else { return try seal(secret, item: item, revision: revision) }
        return try seal(secret, under: key, item: item, revision: revision)
    }

    /// Opens an item's sealed secret; `unreadable` when it is not what was sealed.
    func open(_ sealed: [UInt8], item: UInt64, revision: UInt64) throws(VaultError) -> Secret {
        try cipher { () throws(GcryptError) in
            let place = place(item: item, column: .secret, revision: revision)
            return try SecretEncoding.decode(open(sealed, for: place))
        }
    }

    /// Opens a secret that is sealed under the key of its item too; `unreadable` when it is not what was sealed.
    func open(
        _ sealed: [UInt8],
        with itemKey: ItemKey,
        item: UInt64,
        revision: UInt64
    ) throws(VaultError) -> Secret {
        try cipher { () throws(GcryptError) in
            let place = place(item: item, column: .protectedSecret, revision: revision)
            return try SecretEncoding.decode(itemKey.open(open(sealed, for: place), for: place))
        }
    }

    private func seal(_ plaintext: borrowing SecureBytes, for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        try plaintext.withUnsafeBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.seal(plaintext, associatedData: place)
            }
        }
    }

    private func open(_ sealed: [UInt8], for place: AssociatedData) throws(GcryptError) -> SecureBytes {
        try sealed.withRawBytes { (sealed) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.open(sealed, associatedData: place)
            }
        }
    }

    private func place(item: UInt64, column: AssociatedData.Column, revision: UInt64) -> AssociatedData {
        var place = template
        place.set(item: item, column: column, revision: revision)
        return place
    }
}
