import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// The secrets of the Secret portal: imported ones in items of `login`, and derived ones.
///
/// The first one that an application gets stays, unless a person replaces it: an import is refused once a derived
/// secret has been given out, and a program can neither read, change nor delete an imported one.
@BusActor
final class PortalSecrets {
    private let audit: AccessAudit
    private let changes: ChangeNotifier
    private let logger: Logger
    private let limit: Int
    /// Decides between a request and an import of the same application.
    private let turns = KeyedLock<String>()
    /// Held from the count of the imported secrets until another one is stored.
    private let storing = KeyedLock<Int>()

    /// In bytes of UTF-8.
    nonisolated static let applicationLimit = 255

    /// - Parameter limit: the most imported secrets.
    nonisolated init(
        audit: AccessAudit,
        changes: ChangeNotifier,
        limit: Int,
        logger: Logger
    ) {
        self.limit = limit
        self.audit = audit
        self.changes = changes
        self.logger = logger
    }

    /// The secret of an application: the imported one, else the derived one, which is recorded first.
    ///
    /// Throws `locked`, `unreadable` for a damaged item, and disk errors.
    func secret(for application: String, in login: Collection) async throws(VaultError) -> SecureBytes {
        await turns.lock(application)
        defer { turns.unlock(application) }
        if let imported = try importedSecret(for: application, in: login) { return imported.takeBytes() }
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
        try new.check()
        await turns.lock(application)
        defer { turns.unlock(application) }
        if let present = try await presentSecret(for: application, in: login) {
            if present.bytes.isEqual(to: new.secret) { return false }
            throw BusError(
                .alreadyExists,
                present.id == nil
                    ? "the application has used a secret of keychaind, and may need it"
                    : "another secret was imported for the application before"
            )
        }
        try client.checkUnconfined()
        try await store(new.takeSecret(), for: application, in: login, from: client)
        return true
    }

    /// Gives an application another secret in place of its present one, which stays; nothing if it has that one.
    ///
    /// Throws `NoSuchObject` if it has none, and `LimitsExceeded` if there are too many imported ones.
    func replace(with new: consuming PortalImport, in login: Collection, from client: Client) async throws(BusError) {
        let application = new.application
        await turns.lock(application)
        defer { turns.unlock(application) }
        let present = try await secretToReplace(for: application, in: login)
        guard !present.bytes.isEqual(to: new.secret) else { return }
        try await store(new.takeSecret(), for: application, inPlaceOf: present, in: login, from: client)
    }

    /// Whether an application has a secret; throws `NoSuchObject` if it has none.
    func has(_ new: borrowing PortalImport, in login: Collection) async throws(BusError) -> Bool {
        let application = new.application
        await turns.lock(application)
        defer { turns.unlock(application) }
        return try await secretToReplace(for: application, in: login).bytes.isEqual(to: new.secret)
    }

    /// The secret of an application that was replaced last; throws `NoSuchObject` if there is none.
    func replacedSecret(for application: String, in login: Collection) async throws(BusError) -> PortalImport {
        await turns.lock(application)
        defer { turns.unlock(application) }
        let present = try await secretToReplace(for: application, in: login)
        let replaced = try translatingErrors { () throws(VaultError) in
            try findSecret(for: application, in: login) { isReplaced, bytes in
                isReplaced && !bytes.isEqual(to: present.bytes)
            }
        }
        guard let replaced else { throw BusError(.noSuchObject, "no secret of the application was replaced") }
        return PortalImport(of: application, replaced.takeBytes())
    }

    /// The secret that an application has, imported or derived; throws `NoSuchObject` if it has none.
    private func secretToReplace(for application: String, in login: Collection) async throws(BusError) -> PortalItem {
        guard let present = try await presentSecret(for: application, in: login) else {
            throw BusError(.noSuchObject, "the application has no secret of keychaind yet; import the other one")
        }
        return present
    }

    private func presentSecret(for application: String, in login: Collection) async throws(BusError) -> PortalItem? {
        try await translatingErrors { () async throws(VaultError) in
            if let imported = try importedSecret(for: application, in: login) { return imported }
            guard try await login.hasDerivedSecret(for: application) else { return nil }
            return PortalItem(id: nil, bytes: try login.applicationSecret(for: application))
        }
    }

    /// Stores a secret in place of the present one, which is kept first: a crash in between loses none.
    private func store(
        _ new: consuming SecureBytes,
        for application: String,
        inPlaceOf present: borrowing PortalItem,
        in login: Collection,
        from client: Client
    ) async throws(BusError) {
        let kept = try translatingErrors { () throws(VaultError) in
            try findSecret(for: application, in: login) { isReplaced, bytes in
                isReplaced && bytes.isEqual(to: present.bytes)
            }?.id
        }
        if let kept {
            // Changed last, it is the one that an undo brings back.
            try await translatingErrors { () async throws(VaultError) in
                try await login.updateItem(kept, label: PortalSecrets.label(of: application, isReplaced: true))
            }
            changes.itemChanged(kept, in: login, [])
        } else {
            let copy = try present.copy()
            try await store(copy, for: application, in: login, isReplaced: true, from: client)
        }
        guard let id = present.id else { return try await store(new, for: application, in: login, from: client) }
        let secret = Secret(bytes: new, contentType: ReservedContentType.portalSecret.rawValue)
        do throws(VaultError) {
            try await login.updateItem(id, secret: secret)
        } catch {
            throw BusError(error)
        }
        audit.imported(id, in: login, by: client)
        logger.notice("Replaced an application's portal secret", metadata: ["item": "\(id)"])
        changes.itemChanged(id, in: login, [])
    }

    /// Whether fewer secrets were imported than may be; most keychains have fewer items.
    private func hasRoom(in login: Collection) -> Bool {
        login.itemCount < limit || login.itemIDs.lazy.filter(login.isPortalSecret).prefix(limit).count < limit
    }

    private func store(
        _ secret: consuming SecureBytes,
        for application: String,
        in login: Collection,
        isReplaced: Bool = false,
        from client: Client
    ) async throws(BusError) {
        await storing.lock(0)
        defer { storing.unlock(0) }
        guard hasRoom(in: login) else {
            throw BusError(.limitsExceeded, "there are \(limit) imported portal secrets already")
        }
        let attributes = [(Attributes.portalApplication, application)]
        let creation: ItemCreation
        do throws(VaultError) {
            creation = try await login.createItem(
                label: PortalSecrets.label(of: application, isReplaced: isReplaced),
                attributes: Attributes(attributes + (isReplaced ? [(Attributes.replacedPortalSecret, "yes")] : [])),
                secret: Secret(bytes: secret, contentType: ReservedContentType.portalSecret.rawValue),
                replacing: false
            )
        } catch {
            throw BusError(error)
        }
        if !isReplaced {
            audit.imported(creation.id, in: login, by: client)
            logger.notice("Took an application's portal secret", metadata: ["item": "\(creation.id)"])
        }
        changes.itemCreated(creation.id, in: login)
    }
}

extension PortalSecrets {
    private static func label(of application: String, isReplaced: Bool) -> String {
        let label = isReplaced ? "Replaced portal secret" : "Portal secret"
        return application.isEmpty ? label : "\(label) of \(application)"
    }

    /// The imported secret of an application; nil if there is none.
    private func importedSecret(for application: String, in login: Collection) throws(VaultError) -> PortalItem? {
        try findSecret(for: application, in: login) { isReplaced, _ in !isReplaced }
    }

    /// The last changed of the stored secrets of an application that are meant; nil if there is none.
    ///
    /// Called in the turn of the application. Others can have the attribute, but not the content type.
    private func findSecret(
        for application: String,
        in login: Collection,
        where isMeant: (_ isReplaced: Bool, borrowing SecureBytes) -> Bool
    ) throws(VaultError) -> PortalItem? {
        for id in login.search(Attributes([(Attributes.portalApplication, application)])) {
            guard !login.isLocked, let secret = try login.portalSecret(of: id) else { continue }
            let isReplaced = login.item(id)?.attributes[Attributes.replacedPortalSecret] != nil
            if isMeant(isReplaced, secret.bytes) { return PortalItem(id: id, bytes: secret.takeBytes()) }
        }
        guard !login.isLocked else { throw VaultError(.locked, reason: "the keychain is locked") }
        return nil
    }
}

/// A portal secret, and its item; nil for a derived one.
private struct PortalItem: ~Copyable {
    let id: ItemID?
    let bytes: SecureBytes

    consuming func takeBytes() -> SecureBytes { bytes }

    borrowing func copy() throws(BusError) -> SecureBytes {
        do throws(GcryptError) {
            return try bytes.withUnsafeBytes { (bytes) throws(GcryptError) in
                try SecureBytes(copying: bytes, in: .locked)
            }
        } catch {
            throw BusError(error)
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
