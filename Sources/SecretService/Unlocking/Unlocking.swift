import Authentication
import DBus
import KeychainModel
import Logging
import Vault

/// Unlocks objects for a client: at once where nobody has to be asked, and else by a prompt.
@BusActor
final class Unlocking {
    let vault: Vault
    let access: ItemAccess
    let unlocker: Unlocker
    let authenticator: Authenticator

    private let limits: ServiceLimits
    private let logger: Logger

    init(
        vault: Vault,
        access: ItemAccess,
        unlocker: Unlocker,
        authenticator: Authenticator,
        limits: ServiceLimits,
        logger: Logger
    ) {
        self.vault = vault
        self.access = access
        self.unlocker = unlocker
        self.authenticator = authenticator
        self.limits = limits
        self.logger = logger
    }

    /// Reads a list of objects; throws `LimitsExceeded` if it is too long.
    func readObjects(_ reader: inout Reader) throws(BusError) -> [ObjectPath] {
        try [ObjectPath](from: &reader, limit: limits.objectsPerCall)
    }

    /// Sorts objects into those that are unlocked, and those for which a prompt is made.
    ///
    /// Returns each object as the client spells it (#70); skips unknown ones (#76), and those that cannot be unlocked now.
    ///
    /// - Parameters:
    ///   - action: the purpose; anything but use needs a context.
    ///   - context: has the settings of the prompt, and keeps what is proved in it.
    func unlock(
        _ paths: [ObjectPath],
        to action: ItemAction = .use,
        for client: Client,
        in context: AuthenticationContext? = nil
    ) throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        var unlocked: [ObjectPath] = []
        var locked: [UnlockPrompt.Request] = []
        var unreadable: [CollectionName: String] = [:]
        for path in paths {
            guard let (collection, item) = vault.findLockable(path) else { continue }
            switch collection.state {
            case .unreadable(let reason):
                unreadable[collection.name] = reason
                continue
            case .unlocked:
                guard let item, !isAllowed(action, item, in: collection, for: client, context) else {
                    unlocked.append(path)
                    continue
                }
                if case .unavailable = access.verdict(on: item, in: collection, for: client) { continue }
            case .vacant, .locked, .unlocking:
                break
            }
            locked.append(UnlockPrompt.Request(path: path, collection: collection, item: item))
        }
        unreadable.forEach(logUnreadable)
        guard !locked.isEmpty, context?.settings.allowsInteraction != false else { return (unlocked, .root) }
        let prompt = UnlockPrompt(locked, to: action, for: client, in: context, unlocking: self)
        return (unlocked, try client.makePrompt(prompt))
    }

    /// Whether a client may do something to an item without a person being asked.
    func isAllowed(
        _ action: ItemAction,
        _ id: ItemID,
        in collection: Collection,
        for client: Client,
        _ context: AuthenticationContext?
    ) -> Bool {
        switch access.verdict(on: id, in: collection, for: client) {
        case .open: true
        case .granted where action == .use: true
        case .granted, .needsAuthentication:
            action != .use && context?.allows(action.parts, of: ItemReference(id, in: collection)) == true
        case .unavailable: false
        }
    }

    /// Grants the client of a context those items for which its proof suffices.
    ///
    /// The others stay locked to the client, and ``unlock(_:to:for:in:)`` makes a prompt for them.
    func grantProved(_ paths: [ObjectPath], in context: AuthenticationContext) async {
        guard let (proof, reuse) = context.useProof() else { return }
        let endings = context.endings
        for path in paths {
            guard let (collection, id) = vault.findItem(path),
                case .needsAuthentication(let policy) = access.verdict(on: id, in: collection, for: context.client)
            else { continue }
            let item = ProtectedItem(id: id, collection: collection, policy: policy)
            guard proof.satisfies(await item.requirement(with: authenticator.biometry, in: vault)) else { continue }
            var key: ItemKey?
            if item.isSealed {
                // A collection that was never unlocked beside login, and has its own password, knows no other passcode.
                guard let opened = try? await collection.itemKey(of: id, passcode: proof.passcode) else { continue }
                key = opened
            }
            guard context.endings == endings else { continue }
            access.grant(item, to: context.client, context.caller, for: reuse, key: key)
        }
    }

    private func logUnreadable(_ name: CollectionName, reason: String) {
        logger.error(
            "A keychain cannot be read, and is kept as it is",
            metadata: ["keychain": "\(name)", "reason": "\(reason)"]
        )
    }
}
