import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
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
    }

    private enum State {
        case connected
        case gone
    }

    nonisolated let name: String
    var waitingCalls: WaitingCalls
    let unsent = UnsentAnswers()
    /// The items that exist for it.
    private(set) var view: ClientView

    private let environment: Environment
    private let identity: CallerIdentity
    /// The answer of the bus to ``userID()``; nil until that is called.
    private var user: Promise<UInt32?>?
    private var state = State.connected
    private(set) var sessions: [ObjectNumber: Session] = [:]
    private(set) var prompts: [ObjectNumber: Prompt] = [:]
    private(set) var contexts: [ObjectNumber: AuthenticationContext] = [:]
    let reads = PendingReads()
    let rules = ClientRules()
    /// Held while a long list of objects is proved by one of its contexts.
    let longProofs = FairLock<ObjectNumber>()
    private var grants = GrantTable<ItemReference, ItemGrant>()
    /// Changes with every change of its grants, and whenever it is told that an item is locked or not.
    private(set) var lockChanges: UInt64 = 0
    private var grantTimer: (timer: Timer, deadline: Duration)?
    private var conversations: [ObjectIdentifier: Conversation] = [:]
    /// The hits of the last search that were in locked collections, at most ``ServiceLimits/awaitedItems``.
    private var awaitedItems: [ItemReference] = []
    /// The end of the last call that waits for a key; the next call follows it.
    private var lastWaiting: Promise<Void>?

    init(_ name: String, in environment: Environment) {
        self.name = name
        self.environment = environment
        view = environment.connections.knownView(of: name) ?? .undecided
        identity = CallerIdentity(of: name, by: environment.inspector)
        waitingCalls = WaitingCalls(limit: environment.limits.waitingCalls, byteLimit: environment.limits.waitingBytes)
        // At its first call, as many programs end with the answer to their last.
        BusActor.start { [identity] in _ = await identity.caller() }
    }

    func leave() {
        state = .gone
        identity.leave()
        sessions = [:]
        grants.removeAll()
        if let (timer, _) = grantTimer { BusActor.loop.cancel(timer) }
        contexts.values.forEach { $0.invalidate() }
        contexts = [:]
        conversations.values.forEach { $0.end() }
        conversations = [:]
        prompts.values.forEach { $0.dismiss() }
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
    }

    /// Takes over a view that has changed.
    func viewChanged() {
        guard !view.isUndecided, let known = environment.connections.knownView(of: name) else { return }
        view = known
    }

    /// The program behind the connection.
    func caller() async -> Caller {
        await identity.caller()
    }

    /// The program behind the connection, if it is known by now.
    var knownCaller: Caller? { identity.known }

    /// Throws `AccessDenied` unless the bus reports the service's own user for the connection.
    ///
    /// The session bus admits only its owner; a differently configured bus may not.
    func checkUser(orRefuse reason: String) async throws(BusError) {
        guard await userID() == getuid() else { throw BusError(.accessDenied, reason) }
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

    /// Throws `NoReply` if the client has disconnected: nobody would release an object made for it.
    func checkConnected() throws(BusError) {
        guard isConnected else { throw BusError(.noReply, "the caller has left the bus") }
    }

    // MARK: Calls

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

    // MARK: Searches

    /// Remembers the locked hits of a search, whose caches at the client wait for their first unlock.
    func awaitUnlock(of hits: some Sequence<ItemReference>) {
        awaitedItems = Array(hits.prefix(environment.limits.awaitedItems))
    }

    func awaitedItems(in collection: CollectionName) -> [ItemID] {
        awaitedItems.filter { $0.collection == collection }.map(\.id)
    }

    // MARK: Sessions

    /// Throws `LimitsExceeded` past the limit.
    func checkRoomForSession() throws(BusError) {
        guard sessions.count < environment.limits.sessions else {
            throw BusError(.limitsExceeded, "you already have \(environment.limits.sessions) open sessions")
        }
    }

    func insert(_ session: Session) {
        sessions[session.number] = session
    }

    func remove(_ session: Session) {
        sessions[session.number] = nil
    }

    /// Reads a session path; throws `NoSession` if the session is not the client's (#38, #41).
    func readSession(_ reader: inout Reader) throws(BusError) -> Session {
        try session(at: try reader.withObjectPath { path in SecretPath(cString: path) })
    }

    /// Nil for the path `/`.
    func readOptionalSession(_ reader: inout Reader) throws(BusError) -> Session? {
        let path = try reader.withObjectPath { path in
            strcmp(path, "/") == 0 ? nil : Optional(SecretPath(cString: path))
        }
        return if let path { try session(at: path) } else { nil }
    }

    private func session(at path: SecretPath?) throws(BusError) -> Session {
        guard case .session(let number) = path, let session = sessions[number] else {
            throw BusError(.noSession, "there is no such session")
        }
        return session
    }

    /// Reads an `(oayays)` encoded for a session of the client.
    func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        try reader.readStructure { (reader) throws(BusError) in
            let session = try readSession(&reader)
            return try session.readSecret(&reader)
        }
    }

    // MARK: Prompts and conversations

    /// Creates a prompt; throws `LimitsExceeded` past the limits of number and bytes.
    func makePrompt(_ action: any PromptAction) throws(BusError) -> ObjectPath {
        let limits = environment.limits
        guard prompts.count < limits.prompts else {
            throw BusError(.limitsExceeded, "you already have \(limits.prompts) open prompts")
        }
        let bytes = prompts.values.reduce(action.keptBytes) { $0 + $1.keptBytes }
        guard bytes <= limits.bytesInPrompts else {
            throw BusError(
                .limitsExceeded,
                "your open prompts may keep \(limits.bytesInPrompts) bytes together, and no more"
            )
        }
        let prompt = Prompt(action, of: self)
        prompts[prompt.number] = prompt
        return .prompt(prompt.number)
    }

    /// Removes a completed prompt, and sends `Completed` to the client alone (#119, #127).
    func complete(_ prompt: Prompt, _ outcome: PromptOutcome) {
        let signal = Message.signal(.prompt(prompt.number), InterfaceName.prompt, "Completed", to: name)
        signal.append(outcome.isDismissed, outcome.result)
        environment.connection.send(signal)
        prompts[prompt.number] = nil
    }

    /// Dismisses the prompt that restores a backup, unless it has been run; false if there is none.
    func dismissUnrun(restoring backup: StagedBackup) -> Bool {
        guard let prompt = prompts.values.first(where: { $0.isCreated && $0.backup === backup }) else { return false }
        prompt.dismiss()
        return true
    }

    /// Creates a conversation, to be ended by its creator.
    func makeConversation(windowID: String = "") -> Conversation {
        environment.questions.makeConversation(for: self, windowID: windowID)
    }

    /// Runs a call that waits for a person; its conversation ends with the call, the client or ``endDialogs(_:)``.
    func asking<Result, Failure: Error>(
        _ body: (Conversation) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let conversation = makeConversation()
        conversations[ObjectIdentifier(conversation)] = conversation
        defer {
            conversations[ObjectIdentifier(conversation)] = nil
            conversation.end()
        }
        return try await body(conversation)
    }

    func endDialogs(_ cancellation: Cancellation) {
        for prompt in prompts.values where !prompt.isCreated { prompt.dismiss(cancellation) }
        for conversation in conversations.values { conversation.end(cancellation) }
    }

    // MARK: Contexts

    /// Creates a context; throws `LimitsExceeded` past the limit.
    func makeContext() async throws(BusError) -> AuthenticationContext {
        let caller = await self.caller()
        try checkConnected()
        guard contexts.count < environment.limits.contexts else {
            throw BusError(.limitsExceeded, "you already have \(environment.limits.contexts) open contexts")
        }
        let context = AuthenticationContext(of: self, caller, clock: environment.clock)
        contexts[context.number] = context
        return context
    }

    /// Ends a context and its prompts.
    func invalidate(_ context: AuthenticationContext) {
        context.invalidate()
        contexts[context.number] = nil
        for prompt in prompts.values where prompt.context === context { prompt.dismiss() }
    }

    /// A copy of the application password of a context of this client; nil if it has none.
    func credential(of path: ObjectPath?) -> SecureBytes? {
        for context in contexts.values where path == .context(context.number) { return context.credentialCopy }
        return nil
    }

    /// Takes an authorisation from the contexts; nil if none covers the parts.
    func takeAuthorization(for parts: ItemParts, of item: ItemReference) -> ItemAuthorization? {
        for context in contexts.values {
            if let authorization = context.takeAuthorization(for: parts, of: item) { return authorization }
        }
        return nil
    }

    // MARK: Grants

    /// The grant of an item; looking does not use it.
    func grant(of item: ItemReference) -> ItemGrant? {
        grants.key(of: item, at: environment.clock.now)
    }

    /// Grants an item for a time; zero grants one release.
    func grant(_ item: ItemReference, _ grant: ItemGrant, for reuse: Duration) {
        grants.grant(item, key: grant, reuse: GrantReuse(reuse), at: environment.clock.now)
        lockChanged(of: item, to: false)
        scheduleGrantTimer()
    }

    /// Uses a grant; a grant for one release ends.
    func useGrant(of item: ItemReference) {
        let now = environment.clock.now
        _ = grants.use(item, at: now)
        if !grants.isGranted(item, at: now) { lockChanged(of: item, to: true) }
    }

    /// Ends the grants and authorisations of matching items.
    func endPermissions(where isAffected: (ItemReference) -> Bool) {
        contexts.values.forEach { $0.endAuthorizations(where: isAffected) }
        endGrants(where: isAffected)
    }

    /// Ends the grant and the authorisations of an item, however many others there are.
    func endPermissions(of item: ItemReference) {
        contexts.values.forEach { $0.endAuthorization(of: item) }
        endGrant(of: item)
    }

    func endGrants(where isAffected: (ItemReference) -> Bool = { _ in true }) {
        for item in grants.removeAll(where: isAffected) { lockChanged(of: item, to: true) }
    }

    func endGrant(of item: ItemReference) {
        if grants.remove(item) { lockChanged(of: item, to: true) }
    }

    /// Wakes at the end of a grant; once too early if that one has ended before.
    private func scheduleGrantTimer() {
        guard let deadline = grants.nextDeadline else { return }
        if let (timer, earlier) = grantTimer {
            guard deadline < earlier else { return }
            BusActor.loop.cancel(timer)
        }
        let timer = BusActor.loop.schedule(after: max(.zero, deadline - environment.clock.now)) { [weak self] in
            guard let self else { return }
            BusActor.start { await self.endExpiredGrants() }
        }
        grantTimer = (timer, deadline)
    }

    /// Ends the grants whose time is over, and lets others in between: there may be thousands.
    private func endExpiredGrants() async {
        environment.connection.longCalls += 1
        defer { environment.connection.longCalls -= 1 }
        var slice = TimeSlice(environment.limits.timeSlice)
        while case let expired = grants.removeExpired(at: environment.clock.now, upTo: 16), !expired.isEmpty {
            for item in expired { lockChanged(of: item, to: true) }
            await slice.yieldIfOver()
        }
        grantTimer = nil
        scheduleGrantTimer()
    }

    /// Emits `Locked` to this client alone: nothing has changed for others.
    func lockChanged(of item: ItemReference, to isLocked: Bool) {
        lockChanges &+= 1
        let path = ObjectPath.item(item.id, in: item.collection)
        environment.connection.emitPropertiesChanged(path, InterfaceName.item, to: name) { changes in
            changes.writeProperty("Locked", isLocked)
        }
    }
}

extension PeerTable<Client> {
    func endProofs(_ cancellation: Cancellation) {
        for client in all {
            for context in client.contexts.values { context.endProofs(cancellation) }
        }
    }

    func endPermissions(in collection: CollectionName) {
        for client in all { client.endPermissions { $0.collection == collection } }
    }

    func endGrants(of item: ItemReference) {
        for client in all { client.endGrant(of: item) }
    }
}

extension MethodCall {
    /// The calling client; every peer of the service's server is one.
    var client: Client { unsafeDowncast(peer, to: Client.self) }
}
