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

    private let connection: Connection
    private let sandboxes: Sandboxes
    private let looks: ConnectionExaminations
    private let logger: Logger
    private var states: [String: State] = [:]
    private var lookingCount = 0
    private var confinedCount = 0
    /// Whether the connections from before the start are known.
    private var isComplete = false

    /// Called for each connection that turns out to see everything.
    var onOutside: (@BusActor (String) -> Void)?
    /// Called for each that leaves the bus, and for each that turns out to be confined.
    var onVanished: (@BusActor (String) -> Void)?

    init(
        on connection: Connection,
        sandboxes: Sandboxes,
        look: @escaping ConnectionExaminations.Look,
        within lookTime: Duration,
        logger: Logger
    ) {
        self.connection = connection
        self.sandboxes = sandboxes
        self.logger = logger
        looks = ConnectionExaminations(on: connection, look: look, within: lookTime, logger: logger)
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

    /// The view of a connection; nil until it is known.
    func knownView(of name: String) -> ClientView? {
        if case .decided(let view) = states[name] { view } else { nil }
    }

    /// The view of a connection, once it is known.
    func view(of name: String) async -> ClientView {
        switch begin(name) {
        case .decided(let view): view
        case .looking(let promise): await promise.value()
        }
    }

    /// Whether a connection is that of a program outside of sandboxes, limited or not.
    func isOutside(_ name: String) async -> Bool {
        if case .everything(nil) = await view(of: name) { true } else { false }
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
            let found = await looks.confinement(of: name) {
                if case .looking = states[name] { true } else { false }
            }
            guard let confinement = found else {
                // A call can be handled after its caller was reported gone. If the caller were kept, it would count
                // as confined for ever.
                if case .looking(let current) = states[name], current === promise { remove(name) }
                return
            }
            let view = await sandboxes.view(of: confinement)
            guard case .looking(let current) = states[name], current === promise else { return }
            if case .unknown(let reason) = confinement {
                logger.info(
                    "A program is shown no items",
                    metadata: ["caller": "\(name)", "reason": "\(reason.english)"]
                )
            }
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
}
