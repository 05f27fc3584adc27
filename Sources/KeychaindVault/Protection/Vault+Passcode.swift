package import KeychaindGcrypt
package import KeychaindModel
import Logging

extension Vault {
    /// Whether `login` exists.
    package var hasPasscode: Bool { collection(named: .login)?.header?.hasPassword ?? false }

    /// Whether the password of `login` opens an item; otherwise it is the password of the item's own collection.
    ///
    /// The latter holds only for items of earlier versions, in a collection without a slot for the passcode of `login`.
    package func passcodeOpens(_ id: ItemID, in collection: Collection) -> Bool {
        guard collection.name != .login, let wraps = collection.table[id]?.metadata.wraps, wraps.login == nil,
            wraps.alternatives.contains(where: { factors in factors.contains(.passcode) })
        else { return true }
        guard hasPasscode, let slots = collection.header?.slots else { return false }
        let login = self.collection(named: .login)?.passcodePublicKey
        return slots.contains { slot in
            // Before the first unlock of `login`, the slot may also be for a deleted `login`.
            login.map { login in PasscodeSlot.isSlot(slot, for: login) }
                ?? (slot.kind == KeySlot.Kind.passcode.rawValue)
        }
    }

    /// Verifies a passcode, the password of `login`, and returns its key.
    ///
    /// For items that an earlier version sealed to their own collection, the passcode is that collection's password.
    /// Throws `wrongPassword`, `emptyPassword`, `passcodeNotSet`, and `unreadable` for an invalid key slot.
    ///
    /// - Parameter collection: the collection of such items; nil if ``passcodeOpens(_:in:)``.
    package func verifyPasscode(
        _ passcode: consuming SecureBytes,
        for collection: Collection? = nil
    ) async throws(VaultError) -> PasscodeKey {
        guard let context, let login = self.collection(named: .login) else { throw VaultError.vaultClosed }
        try context.configuration.limits.check(password: passcode)
        var own: CollectionHeader?
        if let collection, !collection.isEphemeral, collection !== login { own = collection.header }
        guard login.header != nil || own != nil else {
            throw VaultError(.passcodeNotSet, reason: "the login keychain has no password")
        }
        let password = Handoff(passcode)
        return try await context.derivations.perform { [header = login.header, own] () throws(VaultError) in
            guard let password = password.take() else { throw VaultError.vaultClosed }
            if let header, let master = try header.master(password: password) {
                let key = try PasscodeKey(master: master, collection: header.identifier)
                if own.map(key.opens) ?? true { return key }
            }
            if let own, let master = try own.master(password: password) {
                return try PasscodeKey(master: master, collection: own.identifier)
            }
            throw VaultError(.wrongPassword, reason: "the passcode is wrong")
        }
    }

    /// Removes the items of the collection in memory that went with a deleted `login`.
    func removeItemsBoundToPasscode() async {
        for bound in itemsBoundToPasscode where bound.collection.isEphemeral {
            do throws(VaultError) {
                try await bound.collection.deleteItem(bound.item, authenticated: true)
            } catch {
                context?.configuration.logger.warning("\(bound.collection.name): an item stays: \(error)")
            }
        }
    }

    /// The items that are deleted with `login`; also found while it is locked.
    package var itemsBoundToPasscode: [(collection: Collection, item: ItemID)] {
        collections.filter { collection in collection.name == .login || collection.isEphemeral }.flatMap { collection in
            collection.search(Collection.boundToPasscode).map { item in (collection, item) }
        }
    }
}

extension Collection {
    static let boundToPasscode: Attributes = [
        ReservedAttribute.accessible.rawValue: Accessibility.whenPasscodeSetThisDeviceOnly.rawValue
    ]
}
