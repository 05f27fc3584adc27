import Gcrypt

/// The key that a verified passcode gives: the private key of protected items.
///
/// In locked memory, wiped with the last reference. Release it once the item keys are unwrapped.
package final class PasscodeKey: Sendable {
    // Never nil; optional so that it can be borrowed as an optional.
    private let pair: X25519?
    private let publicKey: [UInt8]

    // The identifier of the collection whose password was given.
    private let collection: [UInt8]

    /// Derives the key pair from the master key of the collection.
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

    /// Whether it opens protected items of a collection.
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

    /// Calls `body` with the key pair to which earlier versions sealed the collection's items: this one, or the one in
    /// the collection's passcode slot; nil when this passcode does not open that slot.
    ///
    /// - Parameter header: the header of the collection; nil for the collection in memory, which uses the key pair of
    ///   `login`.
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
