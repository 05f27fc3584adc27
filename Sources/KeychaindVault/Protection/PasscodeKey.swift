import KeychaindGcrypt

/// The private key of protected items, from a verified passcode.
///
/// In locked memory, wiped with the last reference. Release it once the item keys are unwrapped.
package final class PasscodeKey: Sendable {
    // Never nil; optional so that it can be borrowed as an optional.
    private let pair: X25519?
    private let publicKey: [UInt8]

    // The identifier of the collection whose password was given.
    private let collection: [UInt8]

    init(master: borrowing SecureBytes, collection: [UInt8]) throws(VaultError) {
        do throws(GcryptError) {
            let pair = try X25519(privateKey: KeyPurpose.passcode.derive(from: master, collection: collection))
            publicKey = pair.publicKey
            self.pair = consume pair
        } catch {
            throw VaultError(error)
        }
        self.collection = collection
    }

    func opens(_ header: CollectionHeader) -> Bool {
        header.identifier == collection
            || header.slots.contains { slot in PasscodeSlot.isSlot(slot, for: publicKey) }
    }

    /// Calls `body` with the key pair of a collection; nil for another collection's passcode.
    func withPair<Result>(
        ofCollection identifier: [UInt8],
        _ body: (borrowing X25519?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard identifier == collection else { return try body(nil) }
        return try body(pair)
    }

    /// Calls `body` with the key pair to which earlier versions sealed the items: this one, or that in the passcode
    /// slot.
    ///
    /// Nil when this passcode does not open that slot. The collection in memory has no header and uses the pair of
    /// `login`.
    func withPair<Result>(
        of header: CollectionHeader?,
        _ body: (borrowing X25519?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard let header, header.identifier != collection else { return try body(pair) }
        guard let slot = header.slots.first(where: { slot in PasscodeSlot.isSlot(slot, for: publicKey) }) else {
            return try body(nil)
        }
        return try body(try PasscodeSlot.open(slot, with: pair, collection: header.identifier))
    }
}
