import Gcrypt

/// What a key that is derived from the master key is for.
enum KeyPurpose: String {
    /// Labels, attributes, times and the collection's state.
    case metadata

    /// Secrets.
    case secrets

    /// The multiset hash.
    case integrity

    /// The private key that opens what asks for the passcode.
    case passcode

    /// Entries of the audit; only login's is used.
    case audit

    /// The master key's size, and that of every key derived from it, in bytes.
    static let keySize = 32

    /// HKDF-SHA256 of the master key, with the collection's identifier as salt and `keychaind 1 PURPOSE` as info.
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
