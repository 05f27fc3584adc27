import Gcrypt

/// The purpose of a key that is derived from the master key.
enum KeyPurpose: String {
    /// Metadata of items and the state of the collection.
    case metadata

    /// Secrets.
    case secrets

    /// The multiset hash.
    case integrity

    /// The private key of protected items.
    case passcode

    /// Audit entries; only that of `login` is used.
    case audit

    /// The size of the master key and of every derived key in bytes.
    static let keySize = 32

    /// Derives a key: HKDF-SHA256 with the collection's identifier as salt and `keychaind 1 PURPOSE` as info.
    func derive(from master: borrowing SecureBytes, collection: [UInt8]) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(
            from: master,
            salt: collection,
            info: Array("keychaind 1 \(rawValue)".utf8),
            count: Self.keySize,
            in: .locked
        )
    }
}
