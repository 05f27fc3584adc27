package import KeychaindGcrypt

/// A recovery key, written on paper, which opens a collection when its password is forgotten.
///
/// 27 random symbols of 5 bits (135 bits) and a check symbol, in seven groups of four: `7K2M-0XQD-…`. The alphabet has
/// no I, L, O and U; they are read as 1, 1, 0 and V. The check finds every wrong symbol and every swap of two.
package struct RecoveryKey: ~Copyable, Sendable {
    static let symbolCount = 28

    private static let groupSize = 4
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The symbols in capitals without hyphens; the input of the key derivation.
    let canonical: SecureBytes

    package init() throws(VaultError) {
        canonical = try cipher { () throws(GcryptError) in
            var symbols = try SecureBytes.random(count: Self.symbolCount, in: .locked)
            symbols.withUnsafeMutableBytes { symbols in
                var check: UInt8 = 0
                for index in 0..<(Self.symbolCount - 1) {
                    symbols[index] &= 31
                    check = Self.doubled(check) ^ symbols[index]
                }
                symbols[Self.symbolCount - 1] = Self.doubled(check)
                for index in symbols.indices { symbols[index] = Self.alphabet[Int(symbols[index])] }
            }
            return symbols
        }
    }

    private init(canonical: consuming SecureBytes) {
        self.canonical = canonical
    }

    package borrowing func grouped() throws(VaultError) -> SecureBytes {
        try cipher { () throws(GcryptError) in
            let size = Self.symbolCount + Self.symbolCount / Self.groupSize - 1
            var text = try SecureBytes(count: size, in: .locked)
            text.withUnsafeMutableBytes { text in
                canonical.withUnsafeBytes { symbols in
                    for index in symbols.indices {
                        let position = index + index / Self.groupSize
                        text[position] = symbols[index]
                        if position > 0, index % Self.groupSize == 0 { text[position - 1] = UInt8(ascii: "-") }
                    }
                }
            }
            return text
        }
    }

    /// Parses a typed key in any case, ignoring blanks and hyphens; nil when it does not look like a recovery key.
    ///
    /// Throws `mistypedRecoveryKey` when it does, but the check fails.
    package static func read(_ text: borrowing SecureBytes) throws(VaultError) -> RecoveryKey? {
        var canonical = try cipher { () throws(GcryptError) in
            try SecureBytes(count: symbolCount, in: .locked)
        }
        var count = 0
        var remainder: UInt8 = 0
        let isWhole = text.withUnsafeBytes { text in
            canonical.withUnsafeMutableBytes { symbols in
                for byte in text where !isSeparator(byte) {
                    guard count < symbolCount, let value = value(of: byte) else { return false }
                    symbols[count] = alphabet[Int(value)]
                    remainder = doubled(remainder) ^ value
                    count += 1
                }
                return count == symbolCount
            }
        }
        guard isWhole else { return nil }
        guard remainder == 0 else {
            throw VaultError(.mistypedRecoveryKey, reason: "a character of the recovery key is wrong")
        }
        return RecoveryKey(canonical: canonical)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
        default: false
        }
    }

    private static func value(of byte: UInt8) -> UInt8? {
        let capital = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xdf : byte
        let meant =
            switch capital {
            case UInt8(ascii: "O"): UInt8(ascii: "0")
            case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
            case UInt8(ascii: "U"): UInt8(ascii: "V")
            default: capital
            }
        return alphabet.firstIndex(of: meant).map { UInt8($0) }
    }

    /// Doubles a symbol in GF(32) with the polynomial x⁵ + x² + 1.
    ///
    /// The symbols, weighted with powers of two, add up to zero. The weights are distinct and nonzero, so a wrong
    /// symbol or a swap changes the sum.
    private static func doubled(_ symbol: UInt8) -> UInt8 {
        symbol & 16 == 0 ? symbol << 1 : symbol << 1 ^ 0x25
    }
}

/// A key slot that a ``RecoveryKey`` opens; that key is long and random, so its derivation need not be slow.
///
/// Parameters: salt (16), note.
enum RecoverySlot {
    static let saltSize = 16

    private static let purpose = Array("keychaind 1 recovery".utf8)

    static func seal(
        _ master: borrowing SecureBytes,
        under key: borrowing RecoveryKey,
        note: KeySlotNote,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> StoredSlot {
        try cipher { () throws(GcryptError) in
            let salt = try RandomBytes.nonce(saltSize)
            var slot = StoredSlot(
                id: id,
                kind: StoredSlot.Kind.recoveryKey.rawValue,
                parameters: salt + note.encoded,
                wrapped: []
            )
            slot.wrapped = try slot.wrap(master, under: derive(key, salt: salt), in: collection)
            return slot
        }
    }

    /// Returns the master key, in locked memory; nil when the recovery key is wrong.
    static func open(
        _ slot: StoredSlot,
        with key: borrowing RecoveryKey,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard slot.kind == StoredSlot.Kind.recoveryKey.rawValue else { return nil }
        guard slot.note != nil else {
            throw VaultError(.unreadable, reason: "key slot \(slot.id) has invalid parameters")
        }
        do throws(GcryptError) {
            return try slot.unwrap(
                under: derive(key, salt: Array(slot.parameters.prefix(saltSize))),
                in: collection
            )
        } catch {
            if error.code == .authenticationFailed { return nil }
            throw VaultError(error)
        }
    }

    private static func derive(_ key: borrowing RecoveryKey, salt: [UInt8]) throws(GcryptError) -> SecureBytes {
        try HKDFSHA256.derive(
            from: key.canonical,
            salt: salt,
            info: purpose,
            count: KeyPurpose.keySize,
            in: .locked
        )
    }
}
