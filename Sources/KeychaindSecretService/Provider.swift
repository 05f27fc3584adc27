package import KeychaindAuthentication
package import KeychaindDBus
package import KeychaindDesktop
package import KeychaindGcrypt
package import KeychaindKeys
package import KeychaindModel
package import KeychaindVault
package import Logging

/// The provider of `org.freedesktop.secrets`: connects its parts, and starts and ends them.
///
/// ``Client`` owns the objects of one connection. ``Dispatcher`` finds the object of a call.
@BusActor
package final class Provider {
    /// The bus name of the service (#1).
    package static let busName = "org.freedesktop.secrets"

    let vault: Vault
    let limits: ServiceLimits
    let readiness: Readiness
    let clients: PeerTable<Client>
    let rules: ItemRules
    let access: ItemAccess
    let audit: AccessAudit
    let changes: ChangeNotifier
    let largeAnswers: LargeAnswers
    let lockouts: LockoutTable
    let collections: Collections
    let passwords: Passwords
    let unlocker: Unlocker
    let authenticator: Authenticator
    let items: Items
    let unlocking: Unlocking
    let reads: ReadPrompts
    let restorations: Restorations
    let portalSecrets: PortalSecrets
    /// The sandboxed programs, and what they see.
    package let sandboxes: Sandboxes
    let connections: BusConnections
    let diskRetry: DiskRetry
    let facts: ProviderFacts
    /// The desktop notifications.
    package let notices: Notices
    let logger: Logger

    /// The settings in force, for `org.keychaind.Status1`.
    package var settings = ProviderSettings()

    /// The server of the login socket.
    package let logins: Logins

    let connection: Connection

    package init(
        vault: Vault,
        connection: Connection,
        inspector: CallerInspector,
        questions: PromptQueue,
        biometry: any Biometry,
        host: any HostSealer = NoHost(),
        securityKeys: any SecurityKeys = NoSecurityKeys(),
        token: any KeyToken = NoKeyToken(),
        backups: BackupFolder? = nil,
        confinement: @escaping ConnectionExaminations.Look = { (credentials, roots) throws(ExaminationObstacle) in
            try ConfinementFinder().find(credentials, into: roots)
        },
        installations: SandboxInstallations = SandboxInstallations(),
        facts: ProviderFacts = ProviderFacts(),
        limits: ServiceLimits = ServiceLimits(),
        clock: BootClock = .system,
        logger: Logger
    ) {
        self.vault = vault
        self.connection = connection
        self.limits = limits
        self.facts = facts
        self.logger = logger
        sandboxes = Sandboxes(in: vault, installations: installations, logger: logger)
        connections = BusConnections(
            on: connection,
            sandboxes: sandboxes,
            look: confinement,
            within: limits.lookTime,
            logger: logger
        )
        connection.objectionToService = { [weak connections] owner in
            await connections?.isOutside(owner) == true ? nil : "it is in a sandbox, or cannot be examined"
        }
        rules = ItemRules(vault: vault, logger: logger)
        let environment = Client.Environment(
            limits: limits,
            connection: connection,
            questions: questions,
            inspector: inspector,
            clock: clock,
            connections: connections,
            accounts: ProgramAccounts(limits),
            rules: rules
        )
        clients = PeerTable { Client($0, in: environment) }
        notices = Notices(on: connection, vault: vault)
        readiness = Readiness(limit: limits.settlingTime)
        let recorder = AuditRecorder(
            clock: clock,
            sync: { () async throws(VaultError) in try await vault.syncAudit() },
            write: { vault.audit($0.entry, in: $0.ring, at: $0.place) }
        )
        audit = AccessAudit(recorder: recorder)
        access = ItemAccess(audit: audit, rules: rules)
        let audience = SignalAudience(clients: clients, connections: connections, rules: rules)
        vault.admission = SignalRoom(connection: connection, audience: audience)
        changes = ChangeNotifier(
            connection: connection,
            access: access,
            audience: audience,
            itemsPerNotice: limits.itemsPerNotice
        )
        largeAnswers = LargeAnswers(connection: connection, limits: limits)
        lockouts = LockoutTable(vault, clock: clock, logger: logger)
        collections = Collections(
            vault: vault,
            clients: clients,
            changes: changes,
            rules: rules,
            lockouts: lockouts,
            audit: audit,
            notices: notices,
            limits: limits,
            logger: logger
        )
        diskRetry = DiskRetry(vault, collections: collections, sandboxes: sandboxes)
        passwords = Passwords(vault: vault, lockouts: lockouts, collections: collections, logger: logger)
        unlocker = Unlocker(
            vault: vault,
            collections: collections,
            passwords: passwords,
            host: host,
            securityKeys: securityKeys,
            readiness: readiness,
            changes: changes,
            notices: notices,
            logger: logger
        )
        authenticator = Authenticator(
            vault: vault,
            biometry: biometry,
            evaluator: Evaluator(
                biometry: biometry,
                lockout: lockouts.people,
                untrustedLockout: lockouts.programs,
                isSessionLocked: { [access] in access.isSessionLocked }
            ),
            questions: questions,
            lockouts: lockouts,
            access: access,
            audit: audit,
            notices: notices,
            logger: logger
        )
        items = Items(
            vault: vault,
            access: access,
            audit: audit,
            changes: changes,
            largeAnswers: largeAnswers,
            authenticator: authenticator,
            keys: KeyWorker(generationLimit: limits.newKeys, token: token),
            clients: clients,
            lockouts: lockouts,
            logger: logger
        )
        unlocking = Unlocking(
            vault: vault,
            access: access,
            unlocker: unlocker,
            authenticator: authenticator,
            limits: limits,
            logger: logger
        )
        reads = ReadPrompts(unlocking: unlocking, limits: limits)
        restorations = Restorations(vault: vault, backups: backups, unlocker: unlocker, clock: clock, logger: logger)
        portalSecrets = PortalSecrets(
            audit: audit,
            changes: changes,
            limit: limits.portalSecrets,
            logger: logger
        )
        logins = Logins(vault: vault, unlocker: unlocker, passwords: passwords, audit: audit, logger: logger)
        connectParts()
    }

    // MARK: Starting and ending

    /// Starts accepting calls, so that the bus name can be requested before a file is read.
    ///
    /// Calls wait until ``vaultIsOpen()``.
    package func start() {
        let dispatcher = Dispatcher(provider: self)
        connection.server = ObjectServer(connection) { [clients] name in
            clients[name]
        } dispatch: { (call) throws(BusError) in
            try dispatcher.dispatch(call)
        }
        connection.onOversizedSignal = { [logger] name in
            logger.error("A signal is too long to send", metadata: ["signal": "\(name)"])
        }
        connection.onNameVanished { [clients, connections, audit, unowned connection] name in
            // Its last calls come first: it may have waited for no answer.
            connection.afterCalls(of: name, dropping: { Provider.questions.contains($0.member ?? "") }) {
                audit.followers.leave(name)
                clients.remove(name)
                connections.remove(name)
            }
        }
        connections.start()
    }

    /// Calls that leave nothing behind but their answer, or a session, which ends with its caller.
    private static let questions: Set = [
        "Agree", "CanEvaluatePolicy", "Check", "Compare", "Decrypt", "Files", "Get", "GetAll", "GetDomainState",
        "GetSecret", "GetSecrets", "Introspect", "Items", "List", "OpenSession", "Read", "ReadAlias", "ReadWithRules",
        "Search", "SearchItems", "Sign", "Test",
    ]

    /// Starts answering calls: the vault is open, and any initial unlock has begun.
    package func vaultIsOpen() {
        rules.load()
        guard readiness.open() else { return }
        BusActor.start { [sandboxes] in await sandboxes.vaultIsOpen() }
        notices.keychainsMayHaveChanged()
        diskRetry.start()
        // Not earlier: a call that waits for the vault would keep its descriptors open.
        connection.server?.pathsWithDescriptors = [ObjectPath.backups.rawValue]
    }

    /// Whether the service refuses calls, as the vault is being closed.
    package var hasEnded: Bool { readiness.hasEnded }

    /// Refuses waiting and further calls, and dismisses all prompts, as the vault is being closed.
    ///
    /// False if called before.
    ///
    /// - Parameter reason: by default the error that the bus sends for calls without a reply.
    package func end(because reason: BusError = BusError(.noReply, "the service is ending")) -> Bool {
        let isFirst = readiness.end(because: reason)
        diskRetry.end()
        // Programs wait for the signal.
        for client in clients.all { client.dismissAll(.bySystem(reason: "the service is ending")) }
        return isFirst
    }

    // MARK: The session

    /// Follows the screen lock: a locked screen ends grants, proofs and dialogs.
    package func setSessionLocked(_ isLocked: Bool) {
        guard isLocked != access.isSessionLocked else { return }
        logger.info("The session is \(isLocked ? "locked" : "unlocked")")
        access.isSessionLocked = isLocked
        if isLocked { endAuthentication(because: "the session was locked") }
        for collection in vault.collections where !collection.isLocked && collection.hasProtectedItems {
            changes.sessionLockChanged(collection)
        }
    }

    /// The items of a collection that rules share with a sandboxed program, such as `flatpak:org.example.Mail`.
    package var sharedItems: @BusActor (_ program: String, Collection) -> Set<ItemID> {
        get { sandboxes.sharedItems }
        set { sandboxes.sharedItems = newValue }
    }

    /// Ends all grants, proofs and dialogs.
    package func endAuthentication(because reason: String) {
        let cancellation = Cancellation.bySystem(reason: reason)
        rules.forget()
        access.endAuthorizations()
        for client in clients.all { client.endGrants() }
        clients.endProofs(cancellation)
        for client in clients.all { client.endDialogs(cancellation) }
    }

    /// The programs for which a read of a locked item asks a person.
    package var programsAskedAtRead: ProgramSelection {
        get { reads.programs }
        set { reads.programs = newValue }
    }

    // MARK: Rules

    /// The rules in the administrators' folder.
    package var administratorRules: AdministratorRules {
        get { rules.administrators }
        set { rules.use(newValue) }
    }

    /// Called for each read that a rule reports to the person.
    package var onRuleNotice: (@BusActor (ProgramRead) -> Void)? {
        get { rules.onNotice }
        set { rules.onNotice = newValue }
    }

    // MARK: Keychains

    /// Unlocks a collection with the key slot of this computer; logs a failure.
    package func unlockByHost(_ collection: Collection) async {
        await unlocker.unlockByHost(collection)
    }

    /// Locks the collections with matching names.
    package func lockCollections(where isMeant: (String) -> Bool) {
        for collection in vault.collections where isMeant(collection.name.description) { collections.lock(collection) }
    }

    /// Keeps the password of a login that does not open `login`; see ``Unlocker/rememberLoginPassword(_:)``.
    package func rememberLoginPassword(_ password: borrowing SecureBytes) {
        unlocker.rememberLoginPassword(password)
    }
}
