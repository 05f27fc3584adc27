import Gcrypt

/// That the passcode was given, and what it opens: the private key that items are sealed to.
///
/// It lies in locked memory and is wiped with the last reference; drop it as soon as the keys of the items are had.
package final class PasscodeKey: Sendable {
    // Optional for those who borrow it as what may be missing; it is not.
    private let pair: X25519?
    private let publicKey: [UInt8]

    // Whose password it was.
    private let collection: [UInt8]

    /// Derives the pair from the master key of the collection whose password was given.
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

    /// Whether it opens what is sealed in a collection.
    func opens(_ header: CollectionHeader) -> Bool {
        header.identifier == collection
            || header.slots.contains { slot in PasscodeSlot.isSlot(slot, for: publicKey) }
    }

    /// Gives the pair of the collection with an identifier; nil when the passcode is another's.
    func withPair<Result>(
        ofCollection identifier: [UInt8],
        _ body: (borrowing X25519?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard identifier == collection else { return try body(nil) }
        return try body(pair)
    }

    /// Gives the pair that earlier versions sealed a collection's items to: this one, or the collection's own out of its key slot; nil when
    /// this passcode does not open that slot.
    ///
    /// - Parameter header: that of the collection; nil for the one in memory, whose items are sealed to login's pair.
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
