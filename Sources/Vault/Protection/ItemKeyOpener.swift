import Gcrypt
import KeychainModel

/// What it takes to unwrap the key of an item, on the thread that derives keys.
struct ItemKeyOpener: Sendable {
    /// The wraps that what was given may open.
    let wraps: [WrappedItemKey]

    /// The item.
    let item: ItemID

    /// The revision at which its key was made.
    let revision: UInt64

    /// The identifier of its collection.
    let collection: [UInt8]

    /// The header of its collection; nil for the one in memory.
    let header: CollectionHeader?

    /// Tries one wrap after the other.
    ///
    /// - Parameter password: empty when none was given.
    func open(passcode: PasscodeKey?, applicationPassword password: borrowing SecureBytes) throws(VaultError) -> ItemKey
    {
        let asksForPassword = wraps.contains { wrap in wrap.derivation != nil }
        guard let passcode else {
            if let key = try open(pair: nil, password: password) { return key }
            throw VaultError(.wrongApplicationPassword, reason: "the password of item \(item) is another")
        }
        var isRightPasscode = false
        var key: ItemKey?
        try withPair(of: passcode) { (pair) throws(VaultError) in
            switch pair {
            case .some: isRightPasscode = true
            case .none: return
            }
            key = try open(pair: pair, password: password)
        }
        if let key { return key }
        guard isRightPasscode else {
            throw VaultError(.wrongPassword, reason: "item \(item) is sealed to another passcode")
        }
        guard asksForPassword else {
            throw VaultError(.unreadable, reason: "the wrapped key of item \(item) is damaged")
        }
        throw VaultError(.wrongApplicationPassword, reason: "the password of item \(item) is another")
    }

    /// Gives the pair that the wraps are made to, or nil when the passcode does not lead to it.
    private func withPair(
        of passcode: PasscodeKey,
        _ body: (borrowing X25519?) throws(VaultError) -> Void
    ) throws(VaultError) {
        // All wraps of a key were made at once, for the passcode of the same collection.
        if let login = wraps.lazy.compactMap(\.login).first {
            try passcode.withPair(ofCollection: login, body)
        } else {
            try passcode.withPair(of: header, body)
        }
    }

    private func open(
        pair: borrowing X25519?,
        password: borrowing SecureBytes
    ) throws(VaultError) -> ItemKey? {
        for wrap in wraps {
            do throws(GcryptError) {
                let key = try wrap.open(
                    passcode: pair,
                    applicationPassword: password,
                    item: item,
                    revision: revision,
                    collection: collection
                )
                if let key { return key }
            } catch {
                throw VaultError(error)
            }
        }
        return nil
    }
}
