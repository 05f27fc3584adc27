import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// The secrets of the Secret portal: imported ones in items of `login`, and derived ones.
///
/// The first one that an application gets stays: an import is refused once a derived secret has been given out, and a
/// program can neither read, change nor delete an imported one.
@BusActor
final class PortalSecrets {
    private let audit: AccessAudit
    private let changes: ChangeNotifier
    private let largeAnswers: LargeAnswers
    private let logger: Logger
    private let limit: Int
    /// Decides between a request and an import of the same application.
    private let turns = KeyedLock<String>()
    /// Held from the count of the imported secrets until another one is stored.
    private let storing = KeyedLock<Int>()

    /// In bytes of UTF-8.
    static let applicationLimit = 255

    /// - Parameter limit: the most imported secrets.
    nonisolated init(
        audit: AccessAudit,
        changes: ChangeNotifier,
        largeAnswers: LargeAnswers,
        limit: Int,
        logger: Logger
    ) {
        self.limit = limit
        self.audit = audit
        self.changes = changes
        self.largeAnswers = largeAnswers
        self.logger = logger
    }

    /// The secret of an application: the imported one, else the derived one, which is recorded first.
    ///
    /// Throws `locked`, `unreadable` for a damaged item, and disk errors.
    func secret(
        for application: String,
        in login: Collection,
        for client: Client
    ) async throws(VaultError) -> SecureBytes {
        await turns.lock(application)
        defer { turns.unlock(application) }
        if let imported = try await importedSecret(for: application, in: login, client) { return imported }
        try await login.markDerivedSecret(for: application)
        return try login.applicationSecret(for: application)
    }

    /// Stores an application's secret from another provider; false if it has the same one already.
    ///
    /// Throws `InvalidArgs` for a secret of another size, `AlreadyExists` if the application has another secret,
    /// `LimitsExceeded` if there are too many imported ones.
    func take(
        _ new: consuming PortalImport,
        in login: Collection,
        from client: Client
    ) async throws(BusError) -> Bool {
        let application = new.application
        guard application.utf8.count <= PortalSecrets.applicationLimit else {
            throw BusError(.invalidArguments, "the name of the application is too long")
        }
        guard new.secret.count == Collection.applicationSecretSize else {
            throw BusError(.invalidArguments, "a portal secret has \(Collection.applicationSecretSize) bytes")
        }
        guard !login.isLocked else { throw BusError(.isLocked, "the keychain login is locked") }
        await turns.lock(application)
        defer { turns.unlock(application) }
        let present: SecureBytes?
        do throws(VaultError) {
            present = try await importedSecret(for: application, in: login, client)
        } catch {
            throw BusError(error)
        }
        if let present {
            guard present.isEqual(to: new.secret) else {
                throw BusError(.alreadyExists, "another secret was imported for the application before")
            }
            return false
        }
        let isTooLate = try await translatingErrors { () async throws(VaultError) in
            try await login.hasDerivedSecret(for: application)
        }
        guard !isTooLate else {
            throw BusError(.alreadyExists, "the application has used a secret of keychaind, and may need it")
        }
        await storing.lock(0)
        defer { storing.unlock(0) }
        guard await hasRoom(in: login, for: client) else {
            throw BusError(.limitsExceeded, "there are \(limit) imported portal secrets already")
        }
        try client.checkUnconfined()
        try await store(new.takeSecret(), for: application, in: login, from: client)
        return true
    }

    /// Whether fewer secrets were imported than may be; most keychains have fewer items.
    private func hasRoom(in login: Collection, for client: Client) async -> Bool {
        guard login.itemCount >= limit else { return true }
        return await largeAnswers.lookAt(login.itemCount, for: client) { slice in
            var count = 0
            for id in login.itemIDs {
                await slice.yieldIfOver()
                if login.isPortalSecret(id) { count += 1 }
                if count >= limit { return false }
            }
            return true
        }
    }

    private func store(
        _ secret: consuming SecureBytes,
        for application: String,
        in login: Collection,
        from client: Client
    ) async throws(BusError) {
        let creation: ItemCreation
        var doubt: BusError?
        do throws(VaultError) {
            creation = try await login.createItem(
                label: application.isEmpty ? "Portal secret" : "Portal secret of \(application)",
                attributes: Attributes([(Attributes.portalApplication, application)]),
                secret: Secret(bytes: secret, contentType: ReservedContentType.portalSecret.rawValue),
                replacing: false
            )
        } catch {
            guard case .item(let made)? = error.outcome else { throw BusError(error) }
            creation = made
            doubt = BusError(error)
        }
        audit.imported(creation.id, in: login, by: client)
        logger.notice("Took an application's portal secret", metadata: ["item": "\(creation.id)"])
        changes.itemCreated(creation.id, in: login)
        if let doubt { throw doubt }
    }
}

extension PortalSecrets {
    /// The imported secret of an application; nil if there is none.
    ///
    /// Called in the turn of the application. Others can have the attribute, but not the content type; a program can
    /// store thousands of such items, so other calls are handled in between.
    private func importedSecret(
        for application: String,
        in login: Collection,
        _ client: Client
    ) async throws(VaultError) -> SecureBytes? {
        try await largeAnswers.lookAt(login.itemCount, for: client) { (slice) async throws(VaultError) in
            let attributes = Attributes([(Attributes.portalApplication, application)])
            let found = await login.search(attributes) {
                await slice.yieldIfOver()
                return true
            }
            for id in found ?? login.search(attributes) {
                await slice.yieldIfOver()
                guard !login.isLocked else { break }
                guard login.contains(id), let secret = try login.portalSecret(of: id) else { continue }
                return secret.takeBytes()
            }
            guard !login.isLocked else { throw VaultError(.locked, reason: "the keychain is locked") }
            return nil
        }
    }
}

extension Collection {
    /// Whether an item is an imported portal secret, which only the portal uses.
    func isPortalSecret(_ id: ItemID) -> Bool {
        guard item(id)?.attributes[Attributes.portalApplication] != nil else { return false }
        do throws(VaultError) {
            return try portalSecret(of: id) != nil
        } catch {
            return false
        }
    }

    /// The secret of an item, if it is an imported portal secret; those are never protected, and small.
    fileprivate func portalSecret(of id: ItemID) throws(VaultError) -> Secret? {
        // An item whose protection is in doubt, as after a rollback, may be one.
        if case .stated = protection(of: id) { return nil }
        guard let secret = try secret(of: id), secret.contentType == ReservedContentType.portalSecret.rawValue else {
            return nil
        }
        return secret
    }
}
