import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindVault
import Logging

/// The connections of the bus, with what each sees.
///
/// A broadcast reaches every program with a match rule for it, so signals are broadcast only while no connection is
/// that of a confined program, or of one that has not been looked at.
@BusActor
final class BusConnections {
    private enum State {
        case looking(Promise<ClientView>)
        case decided(ClientView)
    }

    /// Finds the sandbox around a process; called on a thread of its own, where it may block.
    typealias Look = @Sendable (ConnectionCredentials) -> Confinement

    private let connection: Connection
    private let sandboxes: Sandboxes
    private let look: Look
    private let logger: Logger
    private var states: [String: State] = [:]
    private var lookingCount = 0
    private var confinedCount = 0
    /// Whether the connections from before the start are known.
    private var isComplete = false

    /// Looks at programs of the system's PID namespace, and at others: those can make a look block for ever.
    private let threads: (BlockingCalls, BlockingCalls)
    private let turns = (LookTurns(places: 8), LookTurns(places: 4))

    /// The time limit of a look.
    private static let patience = Duration.seconds(2)

    /// Called for each connection that turns out to see everything.
    var onOutside: (@BusActor (String) -> Void)?
    /// Called for each that leaves the bus, and for each that turns out to be confined.
    var onVanished: (@BusActor (String) -> Void)?

    init(on connection: Connection, sandboxes: Sandboxes, look: @escaping Look, logger: Logger) {
        self.connection = connection
        self.sandboxes = sandboxes
        self.look = look
        self.logger = logger
        threads = (
            BlockingCalls(limit: 64, patience: BusConnections.patience),
            BlockingCalls(limit: 64, patience: BusConnections.patience)
        )
    }

    /// Follows the connections of the bus.
    func start() {
        connection.onConnectionAppeared { [weak self] name in self?.begin(name) }
        BusActor.start { [weak self, connection, logger] in
            do throws(BusError) {
                let names = try await connection.connectionNames()
                guard let self else { return }
                for name in names { begin(name) }
                isComplete = true
            } catch {
                logger.warning("The bus does not list its connections", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Forgets a connection that has left the bus.
    func remove(_ name: String) {
        switch states.removeValue(forKey: name) {
        case nil: return
        case .looking(let promise):
            lookingCount -= 1
            promise.fulfill(.nothing)
        case .decided(let view):
            if view.isConfined { confinedCount -= 1 }
        }
        onVanished?(name)
    }

    /// Whether every program on the bus may get a signal.
    var allowBroadcasts: Bool { isComplete && lookingCount == 0 && confinedCount == 0 }

    /// The names of the connections that are being looked at.
    var looking: [String] {
        guard lookingCount > 0 else { return [] }
        return states.compactMap { name, state in if case .looking = state { name } else { nil } }
    }

    /// What a connection sees, if that is known.
    func knownView(of name: String) -> ClientView? {
        if case .decided(let view) = states[name] { view } else { nil }
    }

    /// What a connection sees.
    func view(of name: String) async -> ClientView {
        switch begin(name) {
        case .decided(let view): view
        case .looking(let promise): await promise.value()
        }
    }

    /// Changes what the connections of a program see.
    func setView(_ view: ClientView, of program: String) {
        for (name, state) in states {
            guard case .decided(let old) = state, old.stamp?.program == program else { continue }
            states[name] = .decided(view)
            if old.isConfined { confinedCount -= 1 }
            if view.isConfined { confinedCount += 1 }
        }
    }

    // MARK: Looking

    @discardableResult
    private func begin(_ name: String) -> State {
        if let state = states[name] { return state }
        let promise = Promise<ClientView>()
        let state = State.looking(promise)
        states[name] = state
        lookingCount += 1
        BusActor.start { [weak self] in
            guard let self else {
                promise.fulfill(.nothing)
                return
            }
            let view = await sandboxes.view(of: await confinement(of: name))
            guard case .looking(let current) = states[name], current === promise else { return }
            states[name] = .decided(view)
            lookingCount -= 1
            if view.isConfined {
                confinedCount += 1
                onVanished?(name)
            } else {
                onOutside?(name)
            }
            promise.fulfill(view)
        }
        return state
    }

    private func confinement(of name: String) async -> Confinement {
        do throws(BusError) {
            var credentials: ConnectionCredentials? = try await connection.credentials(of: name)
            let isElsewhere = credentials.map(ConfinementFinder().isInOtherNamespace) ?? true
            let turn = isElsewhere ? turns.1 : turns.0
            // They hold a descriptor, and thousands of connections may wait.
            if !turn.isFree { credentials = nil }
            await turn.enter()
            defer { turn.leave() }
            let known: ConnectionCredentials
            if let credentials { known = credentials } else { known = try await connection.credentials(of: name) }
            return await examine(known, of: name, on: isElsewhere ? threads.1 : threads.0)
        } catch {
            return .unknown(reason: Text("the bus does not know it any more"))
        }
    }

    private func examine(
        _ credentials: ConnectionCredentials,
        of name: String,
        on threads: BlockingCalls
    ) async -> Confinement {
        // Decided without a look, the program would take its items for lost. Its calls wait instead.
        let found = await threads.runEventually {
            if case .looking = states[name] { true } else { false }
        } _: { [look] in
            look(credentials)
        }
        guard let found else { return .unknown(reason: Text("looking into it takes too long")) }
        if case .unknown(let reason) = found {
            logger.info("A program is shown no items", metadata: ["caller": "\(name)", "reason": "\(reason.english)"])
        }
        return found
    }
}

/// Lets some looks run at a time, in the order of their arrival.
@BusActor
private final class LookTurns {
    private var places: Int
    private var waiting: [Promise<Void>] = []

    nonisolated init(places: Int) {
        self.places = places
    }

    /// Whether ``enter()`` would not wait.
    var isFree: Bool { places > 0 }

    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        let turn = Promise<Void>()
        waiting.append(turn)
        await turn.wait()
    }

    func leave() {
        guard !waiting.isEmpty else {
            places += 1
            return
        }
        waiting.removeFirst().fulfill()
    }
}
