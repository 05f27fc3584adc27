import Authentication
import DBus
import Desktop
import KeychainModel
import Vault

/// A connection to the service and everything that it owns: sessions, prompts, contexts, grants, and open questions to a person.
///
/// An object of another client does not exist for it (#38, #121). ``leave()`` ends all of them.
@BusActor
final class Client: Peer {
    /// What clients share.
    struct Environment {
        let limits: ServiceLimits
        let connection: Connection
        let questions: PromptQueue
        let callers: CallerDirectory
        let clock: BootClock
    }

    private enum State {
        case connected
        case gone
    }

    nonisolated let name: String
    var waitingCalls: WaitingCalls

    private let environment: Environment
    private var state = State.connected
    private(set) var sessions: [ObjectNumber: Session] = [:]
    private(set) var prompts: [ObjectNumber: Prompt] = [:]
    private(set) var contexts: [ObjectNumber: AuthenticationContext] = [:]
    private var grants = GrantTable<ItemReference, ItemGrant>()
    private var grantTimer: Timer?
    private var conversations: [ObjectIdentifier: Conversation] = [:]
    /// The end of the last call that waits for a key; the next one is answered after it.
    private var lastWaiting: Promise<Void>?

    /// Creates a client without objects.
    init(_ name: String, in environment: Environment) {
        self.name = name
        self.environment = environment
        waitingCalls = WaitingCalls(limit: environment.limits.waitingCalls, byteLimit: environment.limits.waitingBytes)
    }

    func leave() {
        state = .gone
        sessions = [:]
        grants.removeAll()
        grantTimer.map(BusActor.loop.cancel)
        contexts.values.forEach { $0.invalidate() }
        contexts = [:]
        conversations.values.forEach { $0.end() }
        conversations = [:]
        prompts.values.forEach { $0.dismiss() }
    }

    /// Whether the connection is on the bus, as far as the bus has said.
    ///
    /// The bus is not asked: libdbus reads no answer while too many bytes of calls wait.
    var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// The process behind the connection.
    func identity() async -> Caller {
        await environment.callers.caller(name)
    }

    /// The user behind the connection, as the bus has seen it; nil if the connection is gone.
    func userID() async -> UInt32? {
        try? await environment.connection.credentials(of: name).userID
    }

    /// Throws `NoReply` if the connection has left the bus: nobody would give back an object that is made for it.
    func checkConnected() throws(BusError) {
        guard isConnected else { throw BusError(.noReply, "the caller has left the bus") }
    }

    // MARK: Calls

    /// Whether calls of the client wait for a key.
    var isWaitingForKey: Bool { lastWaiting != nil }

    /// Waits for what a call needs, then answers it, in the order in which such calls were made.
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

    // MARK: Sessions

    /// Throws `LimitsExceeded` if the client may open no further session.
    func checkRoomForSession() throws(BusError) {
        guard sessions.count < environment.limits.sessions else {
            throw BusError(.limitsExceeded, "you already have \(environment.limits.sessions) open sessions")
        }
    }

    /// Adds a session.
    func insert(_ session: Session) {
        sessions[session.number] = session
    }

    /// Closes a session.
    func remove(_ session: Session) {
        sessions[session.number] = nil
    }

    /// Reads the path of a session; `NoSession` unless it is one of the client's (#38, #41).
    func readSession(_ reader: inout Reader) throws(BusError) -> Session {
        let path = try reader.withObjectPath { path in SecretPath(cString: path) }
        guard case .session(let number) = path, let session = sessions[number] else {
            throw BusError(.noSession, "there is no such session")
        }
        return session
    }

    /// Reads an `(oayays)` in the form of one of the client's sessions.
    func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        try reader.readStructure { (reader) throws(BusError) in
            let session = try readSession(&reader)
            return try session.readSecret(&reader)
        }
    }

    // MARK: Prompts and conversations

    /// Makes the prompt of an action; throws `LimitsExceeded` if the client has too many, or they keep too many bytes.
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

    /// Withdraws a prompt that has completed, and sends its outcome to the client alone (#119, #127).
    func complete(_ prompt: Prompt, _ outcome: PromptOutcome) {
        let signal = Message.signal(.prompt(prompt.number), InterfaceName.prompt, "Completed", to: name)
        signal.append(outcome.isDismissed, outcome.result)
        environment.connection.send(signal)
        prompts[prompt.number] = nil
    }

    /// Creates a conversation, which whoever creates it ends.
    func makeConversation(windowID: String = "") -> Conversation {
        environment.questions.makeConversation(for: name, windowID: windowID)
    }

    /// Runs a call that waits for a person; its conversation ends with the call, with the client, and when nobody may be asked.
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

    /// Ends the dialogs that are open for the client.
    func endDialogs(_ cancellation: Cancellation) {
        for prompt in prompts.values where !prompt.isCreated { prompt.dismiss(cancellation) }
        for conversation in conversations.values { conversation.end(cancellation) }
    }

    // MARK: Contexts

    /// Creates a context; throws `LimitsExceeded` if the client has too many.
    func makeContext() async throws(BusError) -> AuthenticationContext {
        let caller = await identity()
        try checkConnected()
        guard contexts.count < environment.limits.contexts else {
            throw BusError(.limitsExceeded, "you already have \(environment.limits.contexts) open contexts")
        }
        let context = AuthenticationContext(of: self, caller, clock: environment.clock)
        contexts[context.number] = context
        return context
    }

    /// Ends a context, an evaluation in it, and its prompts.
    func invalidate(_ context: AuthenticationContext) {
        context.invalidate()
        contexts[context.number] = nil
        for prompt in prompts.values where prompt.context === context { prompt.dismiss() }
    }

    /// Takes an authorisation out of one of the client's contexts.
    func takeAuthorization(for parts: ItemParts, of item: ItemReference) -> ItemAuthorization? {
        for context in contexts.values {
            if let authorization = context.takeAuthorization(for: parts, of: item) { return authorization }
        }
        return nil
    }

    // MARK: Grants

    /// The grant of an item, if there is one; looking does not use it.
    func grant(of item: ItemReference) -> ItemGrant? {
        grants.key(of: item, at: environment.clock.now)
    }

    /// Grants an item for a while, or for one release if that is no time.
    func grant(_ item: ItemReference, _ grant: ItemGrant, for reuse: Duration) {
        grants.grant(item, key: grant, reuse: GrantReuse(reuse), at: environment.clock.now)
        lockChanged(of: item, to: false)
        scheduleGrantTimer()
    }

    /// Uses a grant, which ends if it is for one release.
    func useGrant(of item: ItemReference) {
        let now = environment.clock.now
        _ = grants.use(item, at: now)
        if !grants.isGranted(item, at: now) { lockChanged(of: item, to: true) }
    }

    /// Ends grants and authorisations of some items.
    func endPermissions(where isAffected: (ItemReference) -> Bool) {
        contexts.values.forEach { $0.endAuthorizations(where: isAffected) }
        endGrants(where: isAffected)
    }

    /// Ends the grants of some items.
    func endGrants(where isAffected: (ItemReference) -> Bool = { _ in true }) {
        for item in grants.removeAll(where: isAffected) { lockChanged(of: item, to: true) }
    }

    private func scheduleGrantTimer() {
        grantTimer.map(BusActor.loop.cancel)
        let clock = environment.clock
        grantTimer = grants.nextDeadline.map { deadline in
            BusActor.loop.schedule(after: max(.zero, deadline - clock.now)) { [weak self] in
                guard let self else { return }
                for item in grants.removeExpired(at: clock.now) { lockChanged(of: item, to: true) }
                scheduleGrantTimer()
            }
        }
    }

    /// Emits the change of `Locked` to this client alone: nothing has changed for the others.
    private func lockChanged(of item: ItemReference, to isLocked: Bool) {
        let path = ObjectPath.item(item.id, in: item.collection)
        environment.connection.emitPropertiesChanged(path, InterfaceName.item, to: name) { changes in
            changes.writeProperty("Locked", isLocked)
        }
    }
}

extension PeerTable<Client> {
    /// Ends all that was proved to contexts.
    func endProofs(_ cancellation: Cancellation) {
        for client in all {
            for context in client.contexts.values { context.endProofs(cancellation) }
        }
    }

    /// Ends the grants and authorisations of the items of a collection.
    func endPermissions(in collection: CollectionName) {
        for client in all { client.endPermissions { $0.collection == collection } }
    }

    /// Ends the grants of an item.
    func endGrants(of item: ItemReference) {
        for client in all { client.endGrants { $0 == item } }
    }
}

extension MethodCall {
    /// The client that has called; every peer of the service's own server is one.
    var client: Client { unsafeDowncast(peer, to: Client.self) }
}
