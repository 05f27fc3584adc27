import KeychaindGcrypt
package import KeychaindModel

/// A key slot: a key of the collection, wrapped under another key.
package struct StoredSlot: Equatable, Sendable {
    enum Kind: Int64, Sendable {
        /// A password with Argon2id; wraps the master key.
        case password = 1

        /// See ``RecoverySlot``.
        case recoveryKey = 3

        /// See ``HostSlot``.
        case host = 4

        /// See ``SecurityKeySlot``.
        case securityKey = 5

        /// See ``LoginSlot``.
        case login = 6
    }

    package var id: Int64

    /// The stored kind; slots of unknown kinds are kept and never open.
    var kind: Int64
    var parameters: [UInt8]
    var wrapped: [UInt8]

    var opensCollection: Bool {
        Kind(rawValue: kind) != nil
    }

    var note: KeySlotNote? {
        guard let size = sizeBeforeNote, parameters.count > size else { return nil }
        return KeySlotNote(decoding: parameters[size...])
    }

    private var sizeBeforeNote: Int? {
        switch Kind(rawValue: kind) {
        case .password: PasswordDerivation.encodedSize
        case .recoveryKey: RecoverySlot.saltSize
        case .host: HostSlot.sizeBeforeNote(in: parameters)
        case .securityKey: SecurityKeySlot.sizeBeforeNote(in: parameters)
        case .login: LoginSlot.sizeBeforeNote
        case nil: nil
        }
    }

    private func place(in collection: [UInt8]) -> AssociatedData {
        var place = AssociatedData(collection: collection, column: .slot)
        place.set(item: UInt64(bitPattern: id), column: .slot, revision: UInt64(bitPattern: kind))
        parameters.withUnsafeBytes { parameters in place.set(suffix: parameters) }
        return place
    }

    func wrap(
        _ content: borrowing SecureBytes,
        under key: borrowing SecureBytes,
        in collection: [UInt8]
    ) throws(GcryptError) -> [UInt8] {
        let key = try SealingKey(key)
        return try content.withUnsafeBytes { (content) throws(GcryptError) in
            try place(in: collection).withBytes { (place) throws(GcryptError) in
                try key.seal(content, associatedData: place)
            }
        }
    }

    /// Unwraps the key into locked memory; `authenticationFailed` under another key.
    func unwrap(under key: borrowing SecureBytes, in collection: [UInt8]) throws(GcryptError) -> SecureBytes {
        let key = try SealingKey(key)
        var content = try SecureBytes(count: KeyPurpose.keySize, in: .locked)
        _ = try content.withUnsafeMutableBytes { (content) throws(GcryptError) in
            try wrapped.withRawBytes { (wrapped) throws(GcryptError) in
                try place(in: collection).withBytes { (place) throws(GcryptError) in
                    try key.open(wrapped, associatedData: place, into: content)
                }
            }
        }
        return content
    }

    /// In bytes.
    static let checksumSize = 8

    /// An 8-byte checksum that tells a flipped bit from a wrong password; its HMAC key, the identifier, is public.
    func check(in collection: [UInt8]) throws(VaultError) -> [UInt8] {
        var message: [UInt8] = []
        message.append(bigEndian: id)
        message.append(bigEndian: kind)
        message.append(bigEndian: UInt32(clamping: parameters.count))
        message += parameters
        message += wrapped
        return try cipher { () throws(GcryptError) in
            let authenticator = try HMACSHA256(key: SecureBytes(copying: collection))
            let code = try message.withRawBytes { (message) throws(GcryptError) in
                try authenticator.authenticate(message)
            }
            return Array(code.prefix(Self.checksumSize))
        }
    }
}

/// The note of a key slot: creation time and label, readable without a key.
///
/// At the end of the slot's parameters: time (8), label in UTF-8. The first password of a collection has none.
package struct KeySlotNote: Equatable, Sendable {
    var made: Timestamp
    var label: String

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: made.microsecondsSinceEpoch)
        return bytes + Array(label.utf8)
    }

    static let labelBytes = 256

    private static let minimumSize = 8
}

extension KeySlotNote {
    init?(decoding bytes: some Swift.Collection<UInt8>) {
        guard (Self.minimumSize...Self.minimumSize + Self.labelBytes).contains(bytes.count) else { return nil }
        let time = bytes.prefix(Self.minimumSize).reduce(UInt64(0)) { value, byte in value << 8 | UInt64(byte) }
        made = Timestamp(microsecondsSinceEpoch: Int64(bitPattern: time))
        label = String(decoding: bytes.dropFirst(Self.minimumSize), as: UTF8.self)
    }
}

/// An opened key slot with its master key, in locked memory.
package struct OpenedSlot: ~Copyable, Sendable {
    package let slot: StoredSlot

    let master: SecureBytes
}

/// The public part of a key slot, readable without a key.
package struct KeySlotInfo: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case password

        case recoveryKey

        case host

        case securityKey

        /// The unlocked `login`.
        case login

        case unknown
    }

    package let number: Int64

    package let kind: Kind

    /// The time of creation or of the last change of its key, if known.
    package let made: Timestamp?

    package let label: String

    package init(number: Int64, kind: Kind, made: Timestamp?, label: String) {
        self.number = number
        self.kind = kind
        self.made = made
        self.label = label
    }
}

extension KeySlotInfo {
    /// The first password is as old as its collection.
    init(_ slot: StoredSlot, in header: CollectionHeader) {
        let note = slot.note
        let (kind, made): (Kind, Timestamp?) =
            switch StoredSlot.Kind(rawValue: slot.kind) {
            case .password: (.password, note?.made ?? header.created)
            case .recoveryKey: (.recoveryKey, note?.made)
            case .host: (.host, note?.made)
            case .securityKey: (.securityKey, note?.made)
            case .login: (.login, note?.made)
            case nil: (.unknown, nil)
            }
        self.init(number: slot.id, kind: kind, made: made, label: note?.label ?? "")
    }
}
