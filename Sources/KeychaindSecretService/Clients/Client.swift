import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault

/// A connection to the service, with its sessions, prompts, contexts, grants and conversations.
///
/// Objects of other clients do not exist for it (#38, #121). ``leave()`` ends everything.
@BusActor
final class Client: Peer, Requester {
    /// Dependencies shared by all clients.
    struct Environment {
        let limits: ServiceLimits
        let connection: Connection
        let questions: PromptQueue
        let inspector: CallerInspector
        let clock: BootClock
        let connections: BusConnections
        let accounts: ProgramAccounts
        let rules: ItemRules
    }

    private enum State {
        case connected
        case gone
    }

    nonisolated let name: String
    private var waitingCalls: WaitingCalls
    let unsent = UnsentAnswers()
    /// The items that exist for it.
    private(set) var view: ClientView

    let environment: Environment
    private let identity: CallerIdentity
    /// What it shares with the other connections of its program; its own until the program is known.
    private var ownAccount: ProgramAccount?
    var account: ProgramAccount {
        if let ownAccount { return ownAccount }
        let account = ProgramAccount(of: self)
        ownAccount = account
        return account
    }
    /// The answer of the bus to ``userID()``; nil until that is called.
    private var user: Promise<UInt32?>?
    private var state = State.connected
    var sessions = ClientSessions()
    var prompts = ClientPrompts()
    var contexts = ClientContexts()
    var grants = ClientGrants()
    let reads = PendingReads()
    let rules = ClientRules()
    /// Held while a list of objects is proved by one of its contexts.
    let proofs = FairLock<ObjectNumber>()
    /// Whether the program has read all properties of an object, as those with a cache do.
    private(set) var cachesProperties = false
    /// Changes with every change of its grants, and whenever it is told that an item is locked or not.
    private(set) var lockChanges: UInt64 = 0
    /// The last search that hit items in locked collections, and at most ``ServiceLimits/awaitedItems`` of them.
    private var lastSearch: (attributes: Attributes, hits: [ItemReference]) = (Attributes(), [])
    /// Signals of changes that wait for `Completed`.
    var deferredSignals: [Signal] = []
    /// The end of the last call that waits for a key; the next call follows it.
    private var lastWaiting: Promise<Void>?

    init(_ name: String, in environment: Environment) {
        self.name = name
        self.environment = environment
        view = environment.connections.knownView(of: name) ?? .undecided
        identity = CallerIdentity(of: name, by: environment.inspector)
        waitingCalls = WaitingCalls(limit: environment.limits.waitingCalls, byteLimit: environment.limits.waitingBytes)
        joinSandbox()
        // At its first call, as many programs end with the answer to their last.
        BusActor.start { [weak self] in _ = await self?.caller() }
    }

    func didReadAllProperties() {
        cachesProperties = true
    }

    func leave() {
        state = .gone
        identity.leave()
        sessions.removeAll()
        dropGrants()
        dropContexts()
        dropDialogs()
        ownAccount?.remove(self)
    }

    /// Whether the connection is on the bus, as far as the bus has reported.
    ///
    /// The bus is not asked: libdbus reads no reply while too many bytes of calls wait.
    var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// Waits until it is known which items exist for it.
    func decideView() async {
        let view = await environment.connections.view(of: name)
        if self.view.isUndecided { self.view = view }
        joinSandbox()
    }

    /// Takes over a view that has changed.
    func viewChanged() {
        guard !view.isUndecided, let known = environment.connections.knownView(of: name) else { return }
        view = known
    }

    /// The program behind the connection.
    func caller() async -> Caller {
        let caller = await identity.caller()
        if !account.isShared { join(Program(of: caller)) }
        return caller
    }

    /// The account, once the program is known or cannot be found.
    func knownAccount() async -> ProgramAccount {
        if !account.isShared { _ = await caller() }
        return account
    }

    /// The program that its questions are counted for.
    func program() async -> Program {
        await knownAccount().program
    }

    /// Waits for the turn of its program.
    func lock(_ lock: FairLock<Program>) async -> FairLock<Program>.Outcome {
        // New connections would each have a turn of their own.
        await lock.lock(for: lock.isHeld ? await program() : account.program)
    }

    /// The sandbox is known before the first call is handled, also if the process has ended since.
    private func joinSandbox() {
        if !account.isShared, let stamp = view.stamp { join(.sandbox(identity: stamp.program)) }
    }

    /// Counts the connection together with others of a program.
    private func join(_ program: Program) {
        if case .connection = program { return }
        guard isConnected else { return }
        let account = environment.accounts[program]
        account.add(self)
        account.waitingCalls.add(waitingCalls)
        ownAccount = account
        endSessionsOfProgram()
    }

    /// The program behind the connection, if it is known by now.
    var knownCaller: Caller? { identity.known }

    /// Throws `AccessDenied` unless the bus reports the service's own user for the connection.
    ///
    /// The session bus admits only its owner; a differently configured bus may not.
    func checkUser(orRefuse reason: String) async throws(BusError) {
        guard await userID() == getuid() else { throw BusError(.accessDenied, reason) }
        try checkUnconfined()
    }

    /// Throws `AccessDenied` if the program sees only its own items, as one that a person has limited while its call
    /// waited.
    func checkUnconfined() throws(BusError) {
        guard !view.isConfined else {
            throw BusError(.accessDenied, "programs in a sandbox are told of their own items only")
        }
    }

    /// The user ID reported by the bus, which is asked once; nil if the connection is gone.
    private func userID() async -> UInt32? {
        if let asked = user { return await asked.value() }
        let asked = Promise<UInt32?>()
        user = asked
        let id = try? await environment.connection.credentials(of: name).userID
        // The next call may get an answer.
        if id == nil { user = nil }
        asked.fulfill(id)
        return id
    }

    /// Throws `NoReply` if the client has disconnected: it would not release an object made for it.
    func checkConnected() throws(BusError) {
        guard isConnected else { throw BusError(.noReply, "the caller has left the bus") }
    }

    // MARK: Calls

    var turnOwner: AnyObject { ownAccount ?? self }

    func beginWaiting(of size: Int) throws(BusError) {
        try waitingCalls.begin(of: size)
        do throws(BusError) {
            try account.waitingCalls.begin(of: size)
        } catch {
            waitingCalls.end(of: size)
            throw error
        }
    }

    func endWaiting(of size: Int) {
        waitingCalls.end(of: size)
        account.waitingCalls.end(of: size)
    }

    /// Starts a task that derives keys and writes changes in the turn of its program.
    func start(_ body: @escaping @BusActor () async -> Void) {
        WorkOwner.$current.withValue(.program(account)) { BusActor.start(body) }
    }

    var isWaitingForKey: Bool { lastWaiting != nil }

    /// Waits, then answers such calls in the order of their arrival.
    func afterWaiting<Result>(
        _ wait: () async -> Void,
        _ answer: () throws(BusError) -> Result
    ) async throws(BusError) -> Result {
        let previous = lastWaiting
        let end = Promise<Void>()
        lastWaiting = end
        defer {
            end.fulfill()
            if lastWaiting === end { lastWaiting = nil }
        }
        await wait()
        await previous?.wait()
        try checkConnected()
        return try answer()
    }

    // MARK: Items

    /// Remembers the locked hits of a search, whose caches at the client wait for their first unlock.
    func awaitUnlock(of hits: some Sequence<ItemReference>, with attributes: Attributes) {
        lastSearch = (attributes, Array(hits.prefix(environment.limits.awaitedItems)))
    }

    func awaitedItems(in collection: CollectionName) -> [ItemID] {
        lastSearch.hits.filter { $0.collection == collection }.map(\.id)
    }

    /// The attributes with which its last search has found an item; empty if it has not.
    func searchedAttributes(of item: ItemReference) -> Attributes {
        lastSearch.hits.contains(item) ? lastSearch.attributes : Attributes()
    }

    /// Emits `Locked` to this client alone: nothing has changed for others.
    func lockChanged(of item: ItemReference, to isLocked: Bool) {
        lockChanges &+= 1
        let path = ObjectPath.item(item.id, in: item.collection)
        deliver { client in
            client.environment.connection.emitPropertiesChanged(path, InterfaceName.item, to: client.name) { changes in
                changes.writeProperty("Locked", isLocked)
            }
        }
    }
}

extension MethodCall {
    /// The calling client; every peer of the service's server is one.
    var client: Client { unsafeDowncast(peer, to: Client.self) }
}
