import Gcrypt

/// The keys of a collection that stay while the process runs: labels and attributes are readable once it has been unlocked.
final class CollectionKeys: Sendable {
    private let metadata: SealingKey
    private let integrity: HMACSHA256

    /// The identifier that everything sealed is bound to.
    let collection: [UInt8]

    /// What items are sealed to that ask for the passcode; the private half is derived when the passcode is given.
    let passcodePublicKey: [UInt8]

    /// The key of the audit, if this is login.
    let auditKey: SecureBytes

    // As they were derived, for the process that comes after this one.
    private let metadataKey: SecureBytes
    private let integrityKey: SecureBytes

    /// Derives the keys from the master key.
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

    /// Takes the keys that another process has derived.
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

    /// Gives the key of labels, attributes and times to a closure.
    func withMetadataKey(_ body: (borrowing SecureBytes) -> Void) {
        body(metadataKey)
    }

    /// Gives the key of the multiset hash to a closure.
    func withIntegrityKey(_ body: (borrowing SecureBytes) -> Void) {
        body(integrityKey)
    }

    /// Seals a blob of the collection's own or of an item's.
    func seal(_ plaintext: [UInt8], for place: AssociatedData) throws(GcryptError) -> [UInt8] {
        try plaintext.withRawBytes { (plaintext) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try metadata.seal(plaintext, associatedData: place)
            }
        }
    }

    /// Opens a blob into a buffer that grows as needed, and gives the size of the plaintext.
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

    /// What an item adds to the multiset hash.
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

    /// Seals the ledger of the collection.
    func seal(_ ledger: ProtectionLedger) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try seal(ledger.encoded, for: AssociatedData(collection: collection, column: .ledger))
        }
    }

    /// Opens the ledger of the collection; `unreadable` when it is not what was sealed.
    func openLedger(_ sealed: [UInt8]) throws(VaultError) -> ProtectionLedger {
        var plaintext: [UInt8] = []
        let place = AssociatedData(collection: collection, column: .ledger)
        let size = try cipher { () throws(GcryptError) in
            try sealed.withRawBytes { (sealed) throws(GcryptError) in try open(sealed, for: place, into: &plaintext) }
        }
        let ledger = plaintext.withUnsafeBytes { bytes in
            ProtectionLedger(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<size]))
        }
        guard let ledger else { throw VaultError(.unreadable, reason: "it has a form that is not known") }
        return ledger
    }
}
