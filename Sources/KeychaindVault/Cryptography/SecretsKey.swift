package import KeychaindGcrypt
import KeychaindModel

/// The key of a collection's secrets; wiped when the collection is locked and the last reference is gone.
final class SecretsKey: Sendable {
    /// The overhead of a sealed secret in bytes, without the content type.
    static let overhead = SealingKey.overhead + 2

    private let key: SealingKey
    private let collection: [UInt8]
    // The associated data, to be completed for an item.
    private let template: AssociatedData

    // The raw key, for a handover.
    private let bytes: SecureBytes

    convenience init(master: borrowing SecureBytes, collection: [UInt8]) throws(GcryptError) {
        try self.init(KeyPurpose.secrets.derive(from: master, collection: collection), collection: collection)
    }

    init(_ bytes: consuming SecureBytes, collection: [UInt8]) throws(GcryptError) {
        self.collection = collection
        template = AssociatedData(collection: collection, column: .secret)
        key = try SealingKey(bytes)
        self.bytes = bytes
    }

    /// In bytes.
    static let applicationSecretSize = 64

    /// Derives an application secret: HKDF-SHA256 with the collection's identifier as salt.
    func applicationSecret(for application: String) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(
            from: bytes,
            salt: collection,
            info: Array("keychaind 1 application \(application)".utf8),
            count: Self.applicationSecretSize,
            in: .locked
        )
    }

    /// Derives the mark of an application that has its derived secret; says nothing without the key.
    func applicationMark(for application: String) throws(GcryptError) -> [UInt8] {
        try HKDFSHA256.derive(
            from: bytes,
            salt: collection,
            info: Array("keychaind 1 portal \(application)".utf8),
            count: 32,
            in: .ordinary
        ).withUnsafeBytes { Array($0) }
    }

    /// Derives the key of a ``LoginSlot``.
    func keySlotKey(salt: [UInt8]) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(
            from: bytes,
            salt: salt,
            info: Array("keychaind 1 login slot".utf8),
            count: KeyPurpose.keySize,
            in: .locked
        )
    }

    func withKey(_ body: (borrowing SecureBytes) -> Void) {
        body(bytes)
    }

    func seal(_ secret: borrowing Secret, item: UInt64, revision: UInt64) throws(GcryptError) -> [UInt8] {
        let plaintext = try SecretEncoding.encode(secret)
        let place = place(item: item, column: .secret, revision: revision)
        return try seal(plaintext, for: place)
    }

    /// Seals a secret under its item key and then under this key; both are needed to open it.
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

    /// The bytes of a sealed secret.
    static func sealedSize(of secret: borrowing Secret, underItemKey hasItemKey: Bool) -> Int {
        let size = overhead + secret.contentType.utf8.count + secret.bytes.count
        return hasItemKey ? size + SealingKey.overhead : size
    }

    func seal(_ secret: borrowing Secret, of row: ItemRow) throws(GcryptError) -> [UInt8] {
        let (item, revision) = (row.id.rawValue, row.metadata.secretRevision)
        guard let key = row.key else { return try seal(secret, item: item, revision: revision) }
        return try seal(secret, under: key, item: item, revision: revision)
    }

    /// Throws `unreadable` when authentication fails.
    func open(_ sealed: ArraySlice<UInt8>, item: UInt64, revision: UInt64) throws(VaultError) -> Secret {
        try cipher { () throws(GcryptError) in
            let place = place(item: item, column: .secret, revision: revision)
            return try SecretEncoding.decode(open(sealed, for: place))
        }
    }

    func open(
        _ sealed: ArraySlice<UInt8>,
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

    private func open(_ sealed: ArraySlice<UInt8>, for place: AssociatedData) throws(GcryptError) -> SecureBytes {
        try sealed.withRawBytes { (sealed) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.open(sealed, associatedData: place)
            }
        }
    }

    /// Throws `authenticationFailed` unless a sealed secret is genuine; of one with an item key, its outer layer.
    func verify(_ sealed: ArraySlice<UInt8>, item: UInt64, revision: UInt64, hasItemKey: Bool) throws(GcryptError) {
        let column = hasItemKey ? AssociatedData.Column.protectedSecret : .secret
        _ = try open(sealed, for: place(item: item, column: column, revision: revision))
    }

    private func place(item: UInt64, column: AssociatedData.Column, revision: UInt64) -> AssociatedData {
        var place = template
        place.set(item: item, column: column, revision: revision)
        return place
    }
}

/// A secret: bytes, wiped after use, and their content type.
package struct Secret: ~Copyable, Sendable {
    package let bytes: SecureBytes

    /// The content type as given by the client (#17), usually `text/plain; charset=utf8`.
    package let contentType: String

    package init(bytes: consuming SecureBytes, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    package consuming func takeBytes() -> SecureBytes { bytes }
}

/// A secret that several closures share; wiped with the last reference.
final class SecretReference: Sendable {
    let secret: Secret

    init(_ secret: consuming Secret) {
        self.secret = secret
    }
}

/// The plaintext of a sealed secret: length of the content type (2), content type, secret.
enum SecretEncoding {
    static func encode(_ secret: borrowing Secret) throws(GcryptError) -> SecureBytes {
        let contentType = Array(secret.contentType.utf8)
        var plaintext = try SecureBytes(count: 2 + contentType.count + secret.bytes.count)
        plaintext.withUnsafeMutableBytes { plaintext in
            plaintext.storeBytes(of: UInt16(clamping: contentType.count).bigEndian, as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: plaintext[2...]).copyBytes(from: contentType)
            secret.bytes.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: plaintext[(2 + contentType.count)...]).copyMemory(from: bytes)
            }
        }
        return plaintext
    }

    static func decode(_ plaintext: consuming SecureBytes) throws(GcryptError) -> Secret {
        let type: (contentType: String, end: Int)? = plaintext.withUnsafeBytes { bytes in
            var reader = FieldReader(bytes)
            guard let length = reader.integer(UInt16.self), let contentType = reader.bytes(Int(length)) else {
                return nil
            }
            return (String(decoding: contentType, as: UTF8.self), bytes.count - reader.remaining.count)
        }
        guard let type else {
            throw GcryptError(.authenticationFailed, reason: "the encoding of the secret is invalid")
        }
        var bytes = consume plaintext
        bytes.removeFirst(type.end)
        return Secret(bytes: bytes, contentType: type.contentType)
    }
}
