import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Creates, changes and deletes items, with their signals and audit entries.
@BusActor
final class Items {
    let vault: Vault
    let access: ItemAccess
    let audit: AccessAudit
    let changes: ChangeNotifier
    let largeAnswers: LargeAnswers
    let authenticator: Authenticator
    let keys: KeyWorker
    let clients: PeerTable<Client>
    let logger: Logger
    /// Serialises creations and changes that require uniqueness; held only for a write, never while a person is asked.
    let uniqueKeys = KeyedLock<UniqueKey.Place>()

    let lockouts: LockoutTable

    init(
        vault: Vault,
        access: ItemAccess,
        audit: AccessAudit,
        changes: ChangeNotifier,
        largeAnswers: LargeAnswers,
        authenticator: Authenticator,
        keys: KeyWorker,
        clients: PeerTable<Client>,
        lockouts: LockoutTable,
        logger: Logger
    ) {
        self.vault = vault
        self.access = access
        self.audit = audit
        self.changes = changes
        self.largeAnswers = largeAnswers
        self.authenticator = authenticator
        self.keys = keys
        self.clients = clients
        self.lockouts = lockouts
        self.logger = logger
    }

    // MARK: Changing

    /// Throws unless an item still is the client's to change: by its view, and by the rules.
    func checkChange(of id: ItemID, in collection: Collection, by client: Client) throws(BusError) {
        guard client.mayChange(id, in: collection) else {
            throw BusError(.noSuchObject, "item \(id) is no longer the program's")
        }
        guard !access.isForbidden(id, in: collection, for: client) else { throw BusError(.forbidden) }
    }

    /// The authorisation to change an item; nil if the item is unprotected.
    ///
    /// Taken from a context of the client, or from a person if the client has a grant; otherwise throws `IsLocked`.
    func permission(
        to action: ItemAction,
        _ id: ItemID,
        in collection: Collection,
        for client: Client
    ) async throws(BusError) -> ItemAuthorization? {
        switch access.verdict(on: id, in: collection, for: client) {
        case .open, .needsConfirmation: return nil
        case .unavailable: break
        case .granted where collection.protection(of: id).policy == nil: return nil
        case .granted, .needsAuthentication:
            let reference = ItemReference(id, in: collection)
            if let authorization = client.takeAuthorization(for: action.parts, of: reference),
                access.isUnchanged(authorization.item)
            {
                return authorization
            }
        }
        guard try access.authorize(id, in: collection, for: client).grant != nil,
            let policy = collection.protection(of: id).policy
        else { return nil }
        let item = ProtectedItem(id: id, collection: collection, policy: policy)
        do throws(AuthenticationError) {
            return try await client.asking { (conversation) async throws(AuthenticationError) in
                let permission = try await authenticator.authorize(action, item, for: client, asking: conversation)
                guard client.isConnected else {
                    throw AuthenticationError(.appCancel, reason: "the caller has left the bus")
                }
                return permission
            }
        } catch {
            throw BusError(error)
        }
    }

    /// Audits a change and emits its signals; the context keeps the unused rest of the authorisation.
    ///
    /// - Parameter before: the previous protection.
    func didChange(
        _ id: ItemID,
        in collection: Collection,
        from before: ItemProtection,
        by client: Client,
        _ action: ItemAction,
        _ properties: ItemProperties,
        _ permission: ItemAuthorization?
    ) {
        guard collection.protection(of: id) == before else {
            audit.accessControlChanged(id, in: collection, by: client, authenticated: permission != nil)
            clients.endGrants(of: ItemReference(id, in: collection))
            return changes.itemChanged(id, in: collection, properties.union(.locked))
        }
        if permission != nil {
            audit.changed(id, in: collection, by: client)
            permission.keepRest(after: action.parts)
        }
        changes.itemChanged(id, in: collection, properties)
    }
}
