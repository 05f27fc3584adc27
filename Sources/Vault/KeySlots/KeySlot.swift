import Gcrypt

/// One way to a key of a collection: the key, wrapped under another that somebody or something has.
struct KeySlot: Equatable, Sendable {
    /// What opens a slot, by the number that is stored.
    enum Kind: Int64, Sendable {
        /// A password, by way of Argon2id; the slot has the master key.
        case password = 1

        /// The passcode, where that is the password of another collection; see ``PasscodeSlot``.
        case passcode = 2

        /// A recovery key; the slot has the master key. See ``RecoverySlot``.
        case recoveryKey = 3

        /// The machine; the slot has the master key. See ``HostSlot``.
        case host = 4
    }

    /// The number of the slot in its file.
    var id: Int64

    /// What opens it; a number that this version does not know is kept, and never opens.
    var kind: Int64

    /// What the kind needs to know.
    var parameters: [UInt8]

    /// The sealed key.
    var wrapped: [UInt8]

    /// Whether what opens it opens the collection, if it is of a kind that is known.
    var opensCollection: Bool {
        switch Kind(rawValue: kind) {
        case .password, .recoveryKey, .host: true
        case .passcode, nil: false
        }
    }

    /// What the slot tells of itself; nil when it has no note.
    var note: KeySlotNote? {
        guard let size = sizeBeforeNote, parameters.count > size else { return nil }
        return KeySlotNote(decoding: parameters[size...])
    }

    /// How many bytes of the parameters the kind needs; the note comes after them.
    private var sizeBeforeNote: Int? {
        switch Kind(rawValue: kind) {
        case .password: PasswordDerivation.encodedSize
        case .recoveryKey: RecoverySlot.saltSize
        case .host: HostSlot.sizeBeforeNote(in: parameters)
        case .passcode, nil: nil
        }
    }

    /// The place that the key is sealed for: slot number and kind, and the parameters.
    private func place(in collection: [UInt8]) -> AssociatedData {
        var place = AssociatedData(collection: collection, column: .slot)
        place.set(item: UInt64(bitPattern: id), column: .slot, revision: UInt64(bitPattern: kind))
        parameters.withUnsafeBytes { parameters in place.set(suffix: parameters) }
        return place
    }

    /// Seals a key for this slot.
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

    /// Opens the sealed key, into locked memory; `authenticationFailed` under another key.
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

    /// Eight bytes that show accidental damage, so that a flipped bit is not taken for a wrong password.
    ///
    /// The key of this HMAC is the collection's identifier, which is no secret: it detects, and does not authenticate.
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
            return Array(code.prefix(8))
        }
    }
}
