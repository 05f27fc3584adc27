package import Authentication
package import DBus
package import Desktop
import KeychainModel
package import Logging
package import Vault

/// The provider of `org.freedesktop.secrets`: a vault, shown on a bus.
///
/// It holds what belongs to callers – sessions and prompts – and finds the object that a call is for. What the objects do is in
/// their own files; what is stored, and what may be read, is the vault's.
@BusActor
package final class Provider {
    /// The name by which clients find the service (#1).
    package static let busName = "org.freedesktop.secrets"

    let vault: Vault
    /// Who asks a person, one after the other.
    let questions: PromptQueue
    let biometry: any Biometry
    /// Has people prove what policies ask for.
    let evaluator: Evaluator
    /// Keeps count of wrong passwords and touches.
    let lockouts: LockoutTable
    let limits: ServiceLimits
    let logger: Logger
    let changes: ChangeNotifier
    let largeAnswers: LargeAnswers
    let callers: CallerDirectory
    let audit: AccessAudit
    /// The password of a login that does not open `login`.
    let drifted = DriftedPassword()
    /// What ties keys to this machine.
    let host: any HostSealer
    /// Who may have which item.
    let access: ItemAccess
    var sessions: SessionTable
    var prompts: PromptTable
    var contexts: ContextTable
    /// The calls that wait for the vault or a key.
    let settling = SettlingCalls()
    /// The talks that calls wait for.
    let conversations = ConversationTable()
    /// Who creates a collection under an alias.
    let creations = Turns<String>()
    /// Which login changes the passwords of keychains, or uses them.
    let logins = Turns<CollectionName>()
    /// The keychains that are being put back from files.
    let restorations = Restorations()
    /// Who creates an item that is to be unique.
    let uniqueCreations = Turns<UniqueKey.Place>()

    private enum Readiness {
        case opening([Waiter])
        case ready
        case ended
    }

    private let connection: Connection
    private var readiness = Readiness.opening([])

    package init(
        vault: Vault,
        connection: Connection,
        callers: CallerDirectory,
        questions: PromptQueue,
        biometry: any Biometry,
        systemDialog: (any SystemDialog)? = nil,
        host: any HostSealer = NoHost(),
        limits: ServiceLimits = ServiceLimits(),
        clock: BootClock = .system,
        logger: Logger
    ) {
        self.host = host
        self.vault = vault
        self.connection = connection
        self.callers = callers
        self.questions = questions
        self.biometry = biometry
        lockouts = LockoutTable(vault, clock: clock, logger: logger)
        self.limits = limits
        self.logger = logger
        audit = AccessAudit(recorder: AuditRecorder(callers: callers) { vault.audit($0, in: $1) })
        access = ItemAccess(audit: audit, clock: clock)
        evaluator = Evaluator(
            biometry: biometry,
            systemDialog: systemDialog,
            lockout: lockouts.people,
            untrustedLockout: lockouts.programs,
            isSessionLocked: { [access] in access.isSessionLocked }
        )
        changes = ChangeNotifier(connection: connection, access: access, itemsPerNotice: limits.itemsPerNotice)
        largeAnswers = LargeAnswers(connection: connection, limit: limits.largeAnswers)
        sessions = SessionTable(limit: limits.sessions)
        prompts = PromptTable(limit: limits.prompts, byteLimit: limits.bytesInPrompts)
        contexts = ContextTable(limit: limits.contexts)
    }

    /// Begins to take calls, and to forget callers that leave the bus.
    ///
    /// Until ``vaultIsOpen()`` they wait, so that the bus name can be taken before a file is read.
    package func start() {
        connection.server = ObjectServer(connection, limit: limits.waitingCalls, byteLimit: limits.waitingBytes) {
            [self] (call) throws(BusError) in
            try dispatch(call)
        }
        connection.onOversizedSignal = { [logger] name in
            logger.error("A signal is too long to be sent", metadata: ["signal": "\(name)"])
        }
        connection.onNameVanished { [self] name in
            connection.server?.forget(name)
            largeAnswers.forget(name)
            sessions.removeAll(of: name)
            contexts.removeAll(of: name)
            conversations.endAll(of: name)
            access.forget(name)
            for prompt in prompts.prompts(of: name) {
                prompt.dismiss()
            }
        }
    }

    /// Begins to answer: the vault has been opened, and if it is to be unlocked, that has begun.
    package func vaultIsOpen() {
        guard case .opening(let waiters) = readiness else { return }
        readiness = .ready
        // Not before: a call that waits for the vault would keep its descriptors open.
        connection.server?.pathsWithDescriptors = [ObjectPath.backups.rawValue]
        for waiter in waiters {
            waiter.finish()
        }
    }

    /// Begins to end: from here on calls are refused, and not answered from a vault that is being closed, in which nothing is found.
    ///
    /// False if it was called before.
    package func end() -> Bool {
        let ended = readiness
        readiness = .ended
        audit.finish()
        switch ended {
        case .opening(let waiters):
            for waiter in waiters {
                waiter.finish()
            }
            return true
        case .ready: return true
        case .ended: return false
        }
    }

    var isOpening: Bool {
        if case .opening = readiness { true } else { false }
    }

    var hasEnded: Bool {
        if case .ended = readiness { true } else { false }
    }

    /// The user behind a connection, as the bus has seen it; nil if the caller has left.
    func userID(of caller: String) async -> UInt32? {
        try? await connection.credentials(of: caller).userID
    }

    /// Whether a caller is still on the bus, a call of which waits.
    ///
    /// The bus is not asked: libdbus reads no answer while too many bytes of calls wait.
    func isPresent(_ caller: String) -> Bool {
        connection.server?.hasWaitingCalls(of: caller) == true
    }

    /// Waits until the vault is open, or the end, for a bounded time.
    func waitUntilReady() async {
        await withCheckedContinuation { continuation in
            let waiter = Waiter(continuation)
            guard case .opening(let waiters) = readiness else { return waiter.finish() }
            readiness = .opening(waiters + [waiter])
            BusActor.loop.schedule(after: limits.settlingTime) { waiter.finish() }
        }
    }

    func send(_ signal: Message) {
        connection.send(signal)
    }
}
