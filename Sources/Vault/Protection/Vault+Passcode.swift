package import Gcrypt
package import KeychainModel

extension Vault {
    /// Whether there is a passcode: the collection `login` has been made, and so has a password.
    package var hasPasscode: Bool { collection(named: .login)?.header?.hasPassword ?? false }

    /// Whether the passcode that opens an item is the password of `login`; if not, it is that of the item's own collection.
    ///
    /// It is the latter's only for items that an earlier version stored, in a collection without a key slot for login's passcode.
    package func passcodeOpens(_ id: ItemID, in collection: Collection) -> Bool {
        guard collection.name != .login, let wraps = collection.table[id]?.metadata.wraps, wraps.login == nil,
            wraps.alternatives.contains(where: { factors in factors.contains(.passcode) })
        else { return true }
        guard hasPasscode, let slots = collection.header?.slots else { return false }
        let login = self.collection(named: .login)?.passcodePublicKey
        return slots.contains { slot in
            // Before login was unlocked nobody knows whether the slot is for this login or for one that was deleted.
            login.map { login in PasscodeSlot.isSlot(slot, for: login) }
                ?? (slot.kind == KeySlot.Kind.passcode.rawValue)
        }
    }

    /// How many items take an authentication, in the collections that were unlocked since the start, and in memory.
    package var protectedItemCount: Int {
        collections.reduce(0) { count, collection in count + collection.table.protectedCount }
    }

    /// The items of other collections that open with the passcode of `login` alone: they are lost with it.
    ///
    /// Of a collection that was not unlocked since the start nothing is known.
    package var itemsSealedToLogin: [(collection: Collection, item: ItemID)] {
        guard let login = collection(named: .login), !login.identifier.isEmpty else { return [] }
        return collections.filter { collection in collection !== login && collection.hasProtectedItems }
            .flatMap { collection in
                collection.itemIDs.filter { id in collection.isLost(id, with: login) }.map { id in (collection, id) }
            }
    }

    /// Tries a passcode, on a thread that may wait, and gives what it opens.
    ///
    /// It is the password of `login`. For items that an earlier version sealed to the passcode key of their own collection it is the
    /// password of that, too. Throws `wrongPassword`, `emptyPassword`, `passcodeNotSet`, and `unreadable` when a key slot has a form
    /// that is not known.
    ///
    /// - Parameter collection: where such items are that are to be opened; nil if ``passcodeOpens(_:in:)``.
    package func verifyPasscode(
        _ passcode: consuming SecureBytes,
        for collection: Collection? = nil
    ) async throws(VaultError) -> PasscodeKey {
        guard let context, let login = self.collection(named: .login) else { throw Collection.closed }
        try context.configuration.limits.check(password: passcode)
        var own: CollectionHeader?
        if let collection, !collection.isEphemeral, collection !== login { own = collection.header }
        guard login.header != nil || own != nil else {
            throw VaultError(.passcodeNotSet, reason: "the login collection has no password")
        }
        let password = Handoff(passcode)
        return try await context.deriver.perform { [header = login.header, own] (_) throws(VaultError) in
            guard let password = password.take() else { throw Collection.closed }
            if let header, let master = try header.master(password: password) {
                let key = try PasscodeKey(master: master, collection: header.identifier)
                if own.map(key.opens) ?? true { return key }
            }
            if let own, let master = try own.master(password: password) {
                return try PasscodeKey(master: master, collection: own.identifier)
            }
            throw VaultError(.wrongPassword, reason: "the passcode is another")
        }
    }

    /// Removes what may not outlive the passcode and is not in the file of `login`, which is to be removed next.
    ///
    /// In this order a crash leaves login with its items and its password, or neither.
    func removeItemsBoundToPasscode() async throws(VaultError) {
        guard let context else { throw Collection.closed }
        let items = itemsBoundToPasscode
        if items.contains(where: { bound in bound.collection.name == .login }) {
            let generations = Generations(of: .login, in: context.folder, keeping: 0)
            try await context.keeper.perform { (_) throws(VaultError) in try generations.removeAll() }
        }
        for bound in items where bound.collection.isEphemeral {
            try await bound.collection.deleteItem(bound.item, authenticated: true)
        }
    }

    /// The items that exist only as long as there is a passcode: they go when `login` is deleted.
    ///
    /// They are found while login is locked, too.
    package var itemsBoundToPasscode: [(collection: Collection, item: ItemID)] {
        collections.filter { collection in collection.name == .login || collection.isEphemeral }.flatMap { collection in
            collection.search(Collection.boundToPasscode).map { item in (collection, item) }
        }
    }
}

extension Collection {
    /// Whether no way to an item's key is left without the passcode of a login.
    fileprivate func isLost(_ id: ItemID, with login: Collection) -> Bool {
        guard let wraps = table[id]?.metadata.wraps?.wraps else { return false }
        return wraps.allSatisfy { wrap in wrap.login == login.identifier }
    }

    /// The attribute of items that go with the passcode.
    static let boundToPasscode: Attributes = [
        ReservedAttribute.accessible.rawValue: Accessibility.whenPasscodeSetThisDeviceOnly.rawValue
    ]
}
