package import KeychaindGcrypt
package import KeychaindModel

extension Collection {
    /// Nothing is known before the first unlock, but then the collection is locked.
    package var hasProtectedItems: Bool { table.hasProtectedItems }

    package func protection(of id: ItemID) -> ItemProtection {
        table.protection(of: id)
    }

    package func needsItemKey(_ id: ItemID) -> Bool {
        table.hasProtectedItems && table[id]?.metadata.wraps != nil
    }

    /// Unwraps an item key with the key from ``Vault/verifyPasscode(_:)``, the application password, or both.
    ///
    /// Throws `locked`, `noSuchItem`, `notSupported` for an item without an item key, `authenticationNeeded` when no
    /// alternative of the policy is satisfied, `wrongApplicationPassword`, `wrongPassword` when the passcode belongs to
    /// another collection, and `unreadable` for a damaged wrap.
    package func itemKey(
        of id: ItemID,
        passcode: PasscodeKey?,
        applicationPassword: consuming SecureBytes? = nil
    ) async throws(VaultError) -> ItemKey {
        let (record, _) = try readable(id)
        guard let wraps = record.metadata.wraps else {
            throw VaultError(.notSupported, reason: "item \(id) has no item key")
        }
        var given = FactorSet()
        if passcode != nil { given.insert(.passcode) }
        var password: Handoff<SecureBytes>?
        if let applicationPassword = consume applicationPassword {
            try context.configuration.limits.check(password: applicationPassword)
            given.insert(.applicationPassword)
            password = Handoff(applicationPassword)
        }
        let candidates = wraps.wraps.filter { wrap in wrap.factors.isSubset(of: given) }
        guard !candidates.isEmpty else {
            throw VaultError(.authenticationNeeded, reason: "item \(id) needs other factors")
        }
        let opener = ItemKeyOpener(
            wraps: candidates,
            item: id,
            revision: wraps.revision,
            collection: identifier
        )
        return try await context.derivations.perform { [password] () throws(VaultError) in
            guard let password = password?.take() else {
                let none = try cipher { () throws(GcryptError) in try SecureBytes(count: 0) }
                return try opener.open(passcode: passcode, applicationPassword: none)
            }
            return try opener.open(passcode: passcode, applicationPassword: password)
        }
    }

    /// Parses the protection in new attributes; throws if this collection cannot store such an item.
    func validProtection(of attributes: Attributes) throws(VaultError) -> ItemProtection {
        let protection = ItemProtection(of: attributes)
        switch protection {
        case .none: break
        case .unknown(let reason): throw VaultError(.invalidAccessControl, reason: reason)
        case .stated(let stated):
            guard stated.accessibility?.needsPasscode == true else { break }
            // The item is deleted with the passcode, that is, with the file of `login`.
            guard name == .login || isEphemeral else {
                throw VaultError(
                    .notSupported,
                    reason: "an item that requires a passcode can only be stored in the login keychain"
                )
            }
            guard context.login.hasPasscode else {
                throw VaultError(.passcodeNotSet, reason: "the login keychain has no password")
            }
        }
        return protection
    }

    /// - Parameter alternatives: the factors with key material in each alternative of the policy.
    func newSecret(
        _ secret: SecretReference,
        for alternatives: [FactorSet],
        applicationPassword: consuming SecureBytes?
    ) async throws(VaultError) -> NewSecret {
        guard state == .unlocked else { throw VaultError.collectionLocked }
        var recipient = NewItemKey.Recipient(costs: context.configuration.keyDerivation)
        if alternatives.contains(where: { factors in factors.contains(.passcode) }) {
            guard let login = context.login.collection, let publicKey = login.passcodePublicKey else {
                throw VaultError(.passcodeNotSet, reason: "the login keychain has to be unlocked first")
            }
            recipient.passcode = publicKey
            if login !== self { recipient.login = login.identifier }
        }
        var password: Handoff<SecureBytes>?
        if alternatives.contains(where: { factors in factors.contains(.applicationPassword) }) {
            guard let applicationPassword = consume applicationPassword else {
                throw VaultError(
                    .applicationPasswordNeeded,
                    reason: "the item needs an application password, and none was given"
                )
            }
            try context.configuration.limits.check(password: applicationPassword)
            password = Handoff(applicationPassword)
        }
        let key = try await context.derivations.perform { [recipient, password] () throws(VaultError) in
            try cipher { () throws(GcryptError) in
                guard let password = password?.take() else {
                    return try NewItemKey(
                        alternatives: alternatives,
                        to: recipient,
                        applicationPassword: SecureBytes(count: 0)
                    )
                }
                return try NewItemKey(alternatives: alternatives, to: recipient, applicationPassword: password)
            }
        }
        return .underNewKey(secret, key)
    }

    /// Completes an update with the key material that new attributes or a new secret need.
    func complete(
        _ update: inout PendingUpdate,
        of id: ItemID,
        attributes: Attributes?,
        secret: SecretReference?,
        key: ItemKey?,
        applicationPassword: consuming SecureBytes?
    ) async throws(VaultError) {
        let (record, _) = try readable(id)
        try table.checkAuthorization(of: id, isAuthenticated: update.isAuthenticated)
        if let key { try check(key, of: record) }
        let protection = table.protection(of: id)
        let wanted = try attributes.map(validProtection) ?? protection
        let wraps = record.metadata.wraps
        var basis = PendingUpdate.Basis(protection: protection, wraps: wraps)
        let alternatives = wanted.keyAlternatives
        let asksForPassword = alternatives?.contains { factors in factors.contains(.applicationPassword) } ?? false
        let keepsKey = alternatives == wraps?.alternatives && !(asksForPassword && applicationPassword != nil)
        switch (secret, key) {
        case (nil, _) where keepsKey: break
        case (let secret?, nil) where wraps == nil && alternatives == nil: update.secret = .ordinary(secret)
        case (let secret?, let key?) where keepsKey:
            update.secret = .underKey(secret, key)
        default:
            var newSecret = secret
            if newSecret == nil {
                basis.secretRevision = record.metadata.secretRevision
                guard let revision = revision(of: id) else { throw VaultError.collectionDeleted }
                newSecret = SecretReference(try await storedSecret(of: revision, with: key))
            }
            if let newSecret {
                update.secret =
                    if let alternatives {
                        try await self.newSecret(newSecret, for: alternatives, applicationPassword: applicationPassword)
                    } else { .ordinary(newSecret) }
            }
        }
        if protection != .none || wanted != .none { update.basis = basis }
    }

    /// Whether an item must have an item key, but the file was rolled back to a revision without one.
    func lacksKey(_ id: ItemID) -> Bool {
        hasProtectedItems && table[id]?.metadata.wraps == nil && table.protection(of: id).keyAlternatives != nil
    }
}
