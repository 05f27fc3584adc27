import KeychaindGcrypt

/// The keys of a collection that stay after its first unlock, so that labels and attributes remain readable.
final class CollectionKeys: Sendable {
    private let metadata: SealingKey
    private let integrity: HMACSHA256

    let collection: [UInt8]

    /// The public key that protected items are sealed to; the passcode gives the private key.
    let passcodePublicKey: [UInt8]

    /// The audit key; only that of `login` is used.
    let auditKey: SecureBytes

    // The raw keys, for a handover.
    private let metadataKey: SecureBytes
    private let integrityKey: SecureBytes

    convenience init(master: borrowing SecureBytes, collection: [UInt8]) throws(GcryptError) {
        let passcode = try X25519(privateKey: KeyPurpose.passcode.derive(from: master, collection: collection))
        try self.init(
            metadata: KeyPurpose.metadata.derive(from: master, collection: collection),
            integrity: KeyPurpose.integrity.derive(from: master, collection: collection),
            audit: KeyPurpose.audit.derive(from: master, collection: collection),
            passcodePublicKey: passcode.publicKey,
            collection: collection
        )
    }

    init(
        metadata: consuming SecureBytes,
        integrity: consuming SecureBytes,
        audit: consuming SecureBytes,
        passcodePublicKey: [UInt8],
        collection: [UInt8]
    ) throws(GcryptError) {
        self.collection = collection
        self.passcodePublicKey = passcodePublicKey
        self.metadata = try SealingKey(metadata)
        self.integrity = try HMACSHA256(key: integrity)
        metadataKey = metadata
        integrityKey = integrity
        auditKey = audit
    }

    func withMetadataKey(_ body: (borrowing SecureBytes) -> Void) {
        body(metadataKey)
    }

    func withIntegrityKey(_ body: (borrowing SecureBytes) -> Void) {
        body(integrityKey)
    }

    func seal(_ plaintext: [UInt8], for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        try plaintext.withRawBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try metadata.seal(plaintext, associatedData: place)
            }
        }
    }

    /// Opens data into a buffer that grows as needed; returns the size of the plaintext.
    func open(
        _ sealed: UnsafeRawBufferPointer,
        for place: AssociatedData,
        into buffer: inout [UInt8]
    ) throws(GcryptError) -> Int {
        if buffer.count < sealed.count {
            buffer = [UInt8](repeating: 0, count: sealed.count * 2)
        }
        var span = buffer.mutableSpan
        return try span.withUnsafeMutableBytes { (buffer) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try metadata.open(sealed, associatedData: place, into: buffer)
            }
        }
    }

    func open(_ sealed: [UInt8], for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        var plaintext: [UInt8] = []
        let size = try sealed.withRawBytes { (sealed) throws(GcryptError) in
            try open(sealed, for: place, into: &plaintext)
        }
        plaintext.removeLast(plaintext.count - size)
        return plaintext
    }

    func hash(item: UInt64, revision: UInt64) throws(GcryptError) -> MultisetHash {
        let message = (item.bigEndian, revision.bigEndian)
        var output = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        try withUnsafeBytes(of: message) { (message) throws(GcryptError) in
            try withUnsafeMutableBytes(of: &output) { (output) throws(GcryptError) in
                try integrity.authenticate(message, into: output)
            }
        }
        return withUnsafeBytes(of: output) { bytes in MultisetHash(bytes: bytes) } ?? MultisetHash()
    }

    /// Makes an opener with a key schedule of its own, in locked memory, for a thread that opens many rows.
    func rowOpener() throws(GcryptError) -> RowOpener {
        try RowOpener(SealingKey(metadataKey), in: collection)
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
    case integrity

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
