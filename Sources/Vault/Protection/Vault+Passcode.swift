package import Gcrypt
package import KeychainModel

extension Vault {
    /// Whether there is a passcode: the collection `login` has been made, and so has a password.
    package var hasPasscode: Bool { collection(named: .login)?.header?.hasPassword ?? false }

    /// Whether the passcode opens what is sealed in a collection; if not, it takes the collection's own password.
    ///
    /// It does in `login` and `session`, and in others that were unlocked at least once while login had been.
    package func passcodeOpens(_ collection: Collection) -> Bool {
        guard hasPasscode else { return false }
        if collection.isEphemeral || collection.name == .login { return true }
        return collection.header?.slots.contains { slot in slot.kind == KeySlot.Kind.passcode.rawValue } ?? false
    }

    /// Tries a passcode, on a thread that may wait, and gives what it opens.
    ///
    /// It is the password of `login`, if that opens what is sealed in the collection; else the collection's own. Throws
    /// `wrongPassword`, `emptyPassword`, `passcodeNotSet`, and `unreadable` when a key slot has a form that is not known.
    ///
    /// - Parameter collection: where the items are that are to be opened; nil for login.
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
    /// The attribute of items that go with the passcode.
    static let boundToPasscode: Attributes = [
        ReservedAttribute.accessible.rawValue: Accessibility.whenPasscodeSetThisDeviceOnly.rawValue
    ]
}
