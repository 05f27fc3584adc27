package import KeychaindGcrypt

/// A key slot that a password opens.
///
/// Parameters: ``PasswordDerivation``, and a note unless it was made with the collection.
package enum PasswordSlot {
    /// Wraps the master key under a password.
    ///
    /// - Parameter note: nil for the first password of a collection.
    package static func seal(
        _ master: borrowing SecureBytes,
        password: borrowing SecureBytes,
        derivation costs: Argon2id,
        note: KeySlotNote? = nil,
        slot id: Int64,
        collection: [UInt8]
    ) throws(VaultError) -> StoredSlot {
        try cipher { () throws(GcryptError) in
            let derivation = try PasswordDerivation(costs)
            var slot = StoredSlot(
                id: id,
                kind: StoredSlot.Kind.password.rawValue,
                parameters: derivation.encoded + (note?.encoded ?? []),
                wrapped: []
            )
            slot.wrapped = try slot.wrap(master, under: derivation.key(from: password), in: collection)
            return slot
        }
    }

    /// The cost of trying a password; nil for another kind of slot, and for one that is not tried.
    static func work(of slot: StoredSlot) -> Int? {
        guard slot.kind == StoredSlot.Kind.password.rawValue else { return nil }
        let costs = slot.parameters.prefix(PasswordDerivation.encodedSize)
        return costs.withUnsafeBytes { bytes in PasswordDerivation(decoding: bytes)?.work }
    }

    /// Returns the master key, in locked memory; nil when the password is wrong.
    static func open(
        _ slot: StoredSlot,
        password: borrowing SecureBytes,
        collection: [UInt8]
    ) throws(VaultError) -> SecureBytes? {
        guard slot.kind == StoredSlot.Kind.password.rawValue else { return nil }
        let size = PasswordDerivation.encodedSize
        let derivation = slot.parameters.prefix(size).withUnsafeBytes { bytes in PasswordDerivation(decoding: bytes) }
        guard let derivation, slot.parameters.count == size || slot.note != nil else {
            throw VaultError(.unreadable, reason: "key slot \(slot.id) has invalid parameters")
        }
        do throws(GcryptError) {
            return try slot.unwrap(under: derivation.key(from: password), in: collection)
        } catch {
            if error.code == .authenticationFailed { return nil }
            throw VaultError(error)
        }
    }
}
