import KeychaindGcrypt
import KeychaindLog

/// The keys of a collection that stay after its first unlock, so that labels and attributes remain readable.
final class CollectionKeys: Sendable {
    /// Seals what belongs to the collection and is stored elsewhere.
    private let metadata: SealingKey

    /// Seals the records of the collection's file.
    let log: LogKey

    let collection: [UInt8]

    /// The public key that protected items are sealed to; the passcode gives the private key.
    let passcodePublicKey: [UInt8]

    /// The audit key; only that of `login` is used.
    let auditKey: SecureBytes

    // The raw keys, for a handover.
    private let metadataKey: SecureBytes
    private let logKey: SecureBytes

    convenience init(master: borrowing SecureBytes, collection: [UInt8]) throws(GcryptError) {
        let passcode = try X25519(privateKey: KeyPurpose.passcode.derive(from: master, collection: collection))
        try self.init(
            metadata: KeyPurpose.metadata.derive(from: master, collection: collection),
            log: KeyPurpose.log.derive(from: master, collection: collection),
            audit: KeyPurpose.audit.derive(from: master, collection: collection),
            passcodePublicKey: passcode.publicKey,
            collection: collection
        )
    }

    init(
        metadata: consuming SecureBytes,
        log: consuming SecureBytes,
        audit: consuming SecureBytes,
        passcodePublicKey: [UInt8],
        collection: [UInt8]
    ) throws(GcryptError) {
        self.collection = collection
        self.passcodePublicKey = passcodePublicKey
        self.metadata = try SealingKey(metadata)
        self.log = LogKey(try SealingKey(log))
        metadataKey = metadata
        logKey = log
        auditKey = audit
    }

    func withMetadataKey(_ body: (borrowing SecureBytes) -> Void) {
        body(metadataKey)
    }

    func withLogKey(_ body: (borrowing SecureBytes) -> Void) {
        body(logKey)
    }

    func seal(_ plaintext: [UInt8], for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        try plaintext.withRawBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try metadata.seal(plaintext, associatedData: place)
            }
        }
    }

    func open(_ sealed: [UInt8], for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        var plaintext = [UInt8](repeating: 0, count: sealed.count)
        var span = plaintext.mutableSpan
        let size = try span.withUnsafeMutableBytes { (plaintext) throws(GcryptError) in
            try sealed.withRawBytes { (sealed) throws(GcryptError) in
                try place.withBytes { (place) throws(GcryptError) in
                    try metadata.open(sealed, associatedData: place, into: plaintext)
                }
            }
        }
        plaintext.removeLast(plaintext.count - size)
        return plaintext
    }

    func seal(_ ledger: ProtectionLedger) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try seal(ledger.encoded, for: AssociatedData(collection: collection, column: .ledger))
        }
    }

    /// Throws `unreadable` when authentication fails.
    func openLedger(_ sealed: [UInt8]) throws(VaultError) -> ProtectionLedger {
        let plaintext = try cipher { () throws(GcryptError) in
            try open(sealed, for: AssociatedData(collection: collection, column: .ledger))
        }
        guard let ledger = plaintext.withUnsafeBytes({ bytes in ProtectionLedger(decoding: bytes) }) else {
            throw VaultError(.unreadable, reason: "its encoding is invalid")
        }
        return ledger
    }
}

enum KeyPurpose: String {
    case metadata
    case secrets
    case log

    /// The private key of protected items.
    case passcode

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
