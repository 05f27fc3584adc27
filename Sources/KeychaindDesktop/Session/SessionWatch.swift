import Glibc
import KeychaindDBus

/// Finds the user's session in one logind process, and watches it.
///
/// Watches the session of this process, or else the user's display session. Ignores signals from other senders.
@BusActor
final class SessionWatch {
    enum Event {
        /// Watches the session from now on; a hint is nil if a signal told it already.
        case found(LogindSession, isLocked: Bool?, isIdle: Bool?)
        /// The user has no session, or only closing ones.
        case none
        /// logind does not answer, and is asked again after a pause.
        case failed(BusError)
        case lockRequested
        case unlockRequested
        case locked(Bool)
        case idle(Bool)
        case aboutToSleep
        case wokeUp
    }

    /// The search for the session, one at a time.
    private enum Search {
        case idle
        case running
        /// The sessions changed after the search started.
        case outdated
        /// Nothing is watched any more.
        case ended
    }

    let logind: Logind
    private let configuration: SessionMonitor.Configuration
    private let report: @BusActor (Event) -> Void
    private var search = Search.idle
    private var pause: Duration
    private var retry: Timer?
    private var user: ObjectPath?
    private var session: LogindSession?
    private var subscriptions: [SubscriptionID] = []
    private var sessionSubscriptions: [SubscriptionID] = []

    private static let longestPause = Duration.seconds(60)

    /// - Parameter report: called for each event until ``end()``.
    init(_ logind: Logind, _ configuration: SessionMonitor.Configuration, report: @escaping @BusActor (Event) -> Void) {
        self.logind = logind
        self.configuration = configuration
        self.report = report
        pause = configuration.pause
    }

    /// Starts to watch; returns at once.
    func start() {
        subscriptions = [
            hear("SessionRemoved") { watch, _ in watch.findSession() },
            hear("SessionNew") { watch, _ in watch.findSession() },
            hear("PrepareForSleep") { watch, message in
                guard let isAboutToSleep = try? message.read(Bool.self) else { return }
                watch.report(isAboutToSleep ? .aboutToSleep : .wokeUp)
            },
        ]
        findSession()
    }

    /// Stops to watch, for good.
    func end() {
        search = .ended
        endWatching()
        unsubscribe(subscriptions)
        subscriptions = []
        if let retry { BusActor.loop.cancel(retry) }
        retry = nil
    }

    // MARK: Finding the session

    /// Finds the session to watch; repeats a running search.
    private func findSession() {
        switch search {
        case .idle: search = .running
        case .running, .outdated: return search = .outdated
        case .ended: return
        }
        BusActor.start { [self] in
            while search == .running {
                do throws(BusError) {
                    let session = try await currentSession()
                    if search == .running {
                        if let session { try await watch(session) } else { watchNone() }
                        pause = configuration.pause
                    }
                } catch {
                    guard search != .ended else { return }
                    report(.failed(error))
                    findAgain()
                }
                switch search {
                case .running: search = .idle
                case .outdated: search = .running
                case .idle, .ended: break
                }
            }
        }
    }

    /// Finds the session after a pause; until then, what is known holds.
    private func findAgain() {
        guard retry == nil else { return }
        retry = BusActor.loop.schedule(after: pause) { [weak self] in
            guard let self else { return }
            retry = nil
            findSession()
        }
        pause = min(pause * 2, Self.longestPause)
    }

    /// The session to watch; nil if the user has none, or only closing ones.
    private func currentSession() async throws(BusError) -> LogindSession? {
        let userID = getuid()
        let own = try await logind.ownSession(
            id: configuration.sessionID,
            processID: UInt32(getpid()),
            userID: userID
        )
        if let own { return own }
        guard let user = try await logind.user(userID) else { return nil }
        if self.user != user, search != .ended {
            self.user = user
            subscriptions.append(hearChanges(of: user) { $0.userChanged($1) })
        }
        return try await logind.display(of: user, userID)
    }

    private func userChanged(_ message: Message) {
        if Self.tellsOfDisplay(message) { findSession() }
    }

    /// Whether a signal tells that the user's display session is another one.
    nonisolated static func tellsOfDisplay(_ message: Message) -> Bool {
        guard let (interface, values, invalid) = try? message.read(String.self, [String: Variant].self, [String].self),
            interface == Logind.userInterface
        else { return false }
        return values["Display"] != nil || invalid.contains("Display")
    }

    // MARK: Watching it

    private func watch(_ session: LogindSession) async throws(BusError) {
        guard self.session != session else { return }
        endWatching()
        self.session = session
        var hasHeard = (request: false, lock: false, idle: false)
        sessionSubscriptions = [
            subscribe(to: signals(from: session.path, Logind.sessionInterface)) { watch, message in
                switch message.member {
                case "Lock": watch.report(.lockRequested)
                case "Unlock": watch.report(.unlockRequested)
                default: return
                }
                hasHeard.request = true
            },
            hearChanges(of: session.path) { watch, message in
                let hints = Self.hints(in: message)
                if let isIdle = hints.isIdle {
                    hasHeard.idle = true
                    watch.report(.idle(isIdle))
                }
                if let isLocked = hints.isLocked {
                    hasHeard.lock = true
                    watch.report(.locked(isLocked))
                }
            },
        ]
        let isLocked: Bool
        let isIdle: Bool
        do throws(BusError) {
            isLocked = try await logind.lockedHint(of: session)
            isIdle = try await logind.idleHint(of: session)
        } catch {
            if self.session == session { endWatching() }
            throw error
        }
        guard self.session == session else { return }
        // Signals of hints that arrived meanwhile are newer. A request changes no hint: a locked screen stays locked.
        let isLockKnown = hasHeard.lock || hasHeard.request && !isLocked
        report(.found(session, isLocked: isLockKnown ? nil : isLocked, isIdle: hasHeard.idle ? nil : isIdle))
    }

    private func watchNone() {
        endWatching()
        report(.none)
    }

    private func endWatching() {
        unsubscribe(sessionSubscriptions)
        sessionSubscriptions = []
        session = nil
    }

    /// The new values of LockedHint and IdleHint in a signal.
    nonisolated static func hints(in message: Message) -> (isLocked: Bool?, isIdle: Bool?) {
        guard let (interface, values, _) = try? message.read(String.self, [String: Variant].self, [String].self),
            interface == Logind.sessionInterface
        else { return (nil, nil) }
        func hint(_ name: String) -> Bool? {
            if case .boolean(let value) = values[name] { value } else { nil }
        }
        return (hint("LockedHint"), hint("IdleHint"))
    }

    // MARK: Signals

    private typealias Handler = @BusActor (SessionWatch, Message) -> Void

    private func hear(_ member: String, _ handler: @escaping Handler) -> SubscriptionID {
        subscribe(to: signals(from: Logind.managerPath, Logind.managerInterface, member), handler)
    }

    private func hearChanges(of path: ObjectPath, _ handler: @escaping Handler) -> SubscriptionID {
        subscribe(to: signals(from: path, StandardInterface.properties, "PropertiesChanged"), handler)
    }

    private func signals(from path: ObjectPath, _ interface: String, _ member: String? = nil) -> SignalMatch {
        SignalMatch(sender: logind.owner, path: path, interface: interface, member: member)
    }

    private func subscribe(to match: SignalMatch, _ handler: @escaping Handler) -> SubscriptionID {
        logind.connection.subscribe(to: match) { [weak self] message in
            guard let self, search != .ended else { return }
            handler(self, message)
        }
    }

    private func unsubscribe(_ subscriptions: [SubscriptionID]) {
        for subscription in subscriptions {
            logind.connection.unsubscribe(subscription)
        }
    }
}
