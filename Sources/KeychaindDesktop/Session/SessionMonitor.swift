import Glibc
package import KeychaindDBus
package import Logging

/// Watches logind for locks of the user session and for sleep.
///
/// Watches the session of this process, or else the user's display session. Ignores signals from other senders. After a
/// restart of logind, the last known state holds until it answers.
@BusActor
package final class SessionMonitor {
    package struct Configuration: Sendable {
        /// The session to watch; logind chooses if it is nil, has ended or belongs to another user.
        package var sessionID: String? = getenv("XDG_SESSION_ID").map { String(cString: $0) }

        /// The time limit of calls to logind.
        package var callTimeout = Duration.seconds(10)

        /// The pause before logind is asked again after a failure; doubled each time, up to a minute.
        package var pause = Duration.seconds(1)

        /// The time for which a session counts as locked after an unconfirmed request to lock.
        ///
        /// Some lockers do not report to logind, and would leave the session locked for ever.
        package var confirmationTime = Duration.seconds(10)

        package init() {}
    }

    private let systemBus: SystemBus
    private let configuration: Configuration
    private let logger: Logger
    private var handlers: [@BusActor (SessionEvent) -> Void] = []
    private var link: Link?
    private var confirmation: Timer?
    private var inhibitor: SleepInhibitor?
    private var isIdle = false
    private var hasWarned = false
    /// Fulfilled once it is known whether the session is locked, or that nobody says so.
    private let answered = Promise<Void>()

    package private(set) var state = SessionState.unknown

    /// The connection to one logind process.
    private final class Link {
        let logind: Logind
        var search = Search.idle
        var pause: Duration
        var retry: Timer?
        var session: LogindSession?
        var user: ObjectPath?
        var subscriptions: [SubscriptionID] = []
        var sessionSubscriptions: [SubscriptionID] = []

        init(_ logind: Logind, pause: Duration) {
            self.logind = logind
            self.pause = pause
        }
    }

    /// The search for the session to watch, one at a time.
    private enum Search {
        case idle
        case running
        /// The sessions changed after the search started.
        case outdated
    }

    package init(systemBus: SystemBus, configuration: Configuration = Configuration(), logger: Logger) {
        self.systemBus = systemBus
        self.configuration = configuration
        self.logger = logger
    }

    /// Adds a handler of events, which must not wait; handlers are called in order.
    package func onEvent(_ handler: @escaping @BusActor (SessionEvent) -> Void) {
        handlers.append(handler)
    }

    /// Delays sleep until all handlers were called.
    package func delaySleep() {
        guard inhibitor == nil else { return }
        let inhibitor = SleepInhibitor(logger: logger)
        self.inhibitor = inhibitor
        if let link { inhibitor.take(from: link.logind) }
    }

    package func stopDelayingSleep() {
        // The lock ends with its descriptor.
        inhibitor = nil
    }

    /// Starts to watch; returns at once.
    package func start() {
        systemBus.follow { [weak self] connection in
            guard let self else { return }
            link = nil
            inhibitor?.reset()
            guard let connection else { return warnOnce("the connection to the system bus was lost") }
            connection.followOwner(of: Logind.busName) { [weak self] owner in
                self?.ownerChanged(owner, on: connection)
            }
        }
        BusActor.start { [self] in
            do throws(BusError) { _ = try await systemBus.connection() } catch { warnOnce("there is no system bus") }
        }
    }

    /// Waits until it is known whether the session is locked, or that nobody says so.
    package func waitForAnswer(within time: Duration) async {
        _ = await answered.wait(within: time)
    }

    // MARK: logind

    private func ownerChanged(_ owner: String?, on connection: Connection) {
        unsubscribe()
        link = nil
        inhibitor?.reset()
        guard let owner else { return warnOnce("logind is not running") }
        let logind = Logind(connection: connection, owner: owner, timeout: configuration.callTimeout)
        let link = Link(logind, pause: configuration.pause)
        self.link = link
        link.subscriptions = [
            hear("SessionRemoved", of: link) { monitor, _ in monitor.findSession() },
            hear("SessionNew", of: link) { monitor, _ in monitor.findSession() },
            hear("PrepareForSleep", of: link) { $0.prepareForSleep($1) },
        ]
        findSession()
        inhibitor?.take(from: link.logind)
    }

    private func hear(
        _ member: String,
        of link: Link,
        _ handler: @escaping @BusActor (SessionMonitor, Message) -> Void
    ) -> SubscriptionID {
        let match = SignalMatch(
            sender: link.logind.owner,
            path: Logind.managerPath,
            interface: Logind.managerInterface,
            member: member
        )
        return subscribe(link, to: match, handler)
    }

    private func subscribe(
        _ link: Link,
        to match: SignalMatch,
        _ handler: @escaping @BusActor (SessionMonitor, Message) -> Void
    ) -> SubscriptionID {
        link.logind.connection.subscribe(to: match) { [weak self, weak link] message in
            guard let self, let link, self.link === link else { return }
            handler(self, message)
        }
    }

    private func unsubscribe() {
        guard let link else { return }
        for subscription in link.subscriptions + link.sessionSubscriptions {
            link.logind.connection.unsubscribe(subscription)
        }
    }

    // MARK: The session

    /// Finds the session to watch; repeats a running search.
    private func findSession() {
        guard let link else { return }
        guard case .idle = link.search else { return link.search = .outdated }
        BusActor.start { [self] in
            repeat {
                link.search = .running
                do throws(BusError) {
                    let session = try await session(link)
                    guard case .running = link.search, self.link === link else { continue }
                    if let session { try await watch(session, link) } else { watchNone(link) }
                    link.pause = configuration.pause
                } catch {
                    guard self.link === link else { break }
                    warnOnce("logind does not answer: \(error.message)")
                    findAgain(link)
                }
            } while link.search == .outdated && self.link === link
            link.search = .idle
        }
    }

    /// Finds the session after a pause; until then, what is known holds.
    private func findAgain(_ link: Link) {
        guard link.retry == nil else { return }
        link.retry = BusActor.loop.schedule(after: link.pause) { [weak self, weak link] in
            guard let self, let link, self.link === link else { return }
            link.retry = nil
            findSession()
        }
        link.pause = min(link.pause * 2, Self.longestPause)
    }

    private static let longestPause = Duration.seconds(60)

    /// The session to watch; nil if the user has none, or only closing ones.
    private func session(_ link: Link) async throws(BusError) -> LogindSession? {
        let userID = getuid()
        let own = try await link.logind.ownSession(
            id: configuration.sessionID,
            processID: UInt32(getpid()),
            userID: userID
        )
        if let own { return own }
        guard let user = try await link.logind.user(userID) else { return nil }
        if link.user != user, self.link === link {
            link.user = user
            link.subscriptions.append(hearChanges(of: user, link) { $0.userChanged($1) })
        }
        return try await link.logind.display(of: user, userID)
    }

    private func userChanged(_ message: Message) {
        guard let (interface, values, invalid) = try? message.read(String.self, [String: Variant].self, [String].self),
            interface == Logind.userInterface, values["Display"] != nil || invalid.contains("Display")
        else { return }
        findSession()
    }

    private func watch(_ session: LogindSession, _ link: Link) async throws(BusError) {
        guard link.session != session else { return }
        endWatching(link)
        link.session = session
        var hasHeard = (lock: false, idle: false)
        link.sessionSubscriptions = [
            subscribe(
                link,
                to: SignalMatch(sender: link.logind.owner, path: session.path, interface: Logind.sessionInterface)
            ) {
                hasHeard.lock = true
                $0.sessionSignal($1)
            },
            hearChanges(of: session.path, link) {
                let hints = SessionMonitor.hints(in: $1)
                if let isIdle = hints.isIdle {
                    hasHeard.idle = true
                    $0.change(toIdle: isIdle)
                }
                if let isLocked = hints.isLocked {
                    hasHeard.lock = true
                    $0.change(to: isLocked ? .locked : .unlocked)
                }
            },
        ]
        let isLocked: Bool
        let isIdle: Bool
        do throws(BusError) {
            isLocked = try await link.logind.lockedHint(of: session)
            isIdle = try await link.logind.idleHint(of: session)
        } catch {
            if link.session == session { endWatching(link) }
            throw error
        }
        guard self.link === link, link.session == session else { return }
        // Signals that arrived meanwhile are newer.
        if !hasHeard.lock { change(to: isLocked ? .locked : .unlocked) }
        if !hasHeard.idle { change(toIdle: isIdle) }
        hasWarned = false
        answered.fulfill()
        logger.debug("Watching the session", metadata: ["session": "\(session.id)", "locked": "\(isLocked)"])
    }

    private func watchNone(_ link: Link) {
        endWatching(link)
        if state == .unknown {
            warnOnce("logind knows no session of the user")
        } else {
            tell(.ended)
        }
        change(to: .unknown)
    }

    private func endWatching(_ link: Link) {
        for subscription in link.sessionSubscriptions {
            link.logind.connection.unsubscribe(subscription)
        }
        link.sessionSubscriptions = []
        link.session = nil
    }

    private func hearChanges(
        of path: ObjectPath,
        _ link: Link,
        _ handler: @escaping @BusActor (SessionMonitor, Message) -> Void
    ) -> SubscriptionID {
        let match = SignalMatch(
            sender: link.logind.owner,
            path: path,
            interface: StandardInterface.properties,
            member: "PropertiesChanged"
        )
        return subscribe(link, to: match, handler)
    }

    /// The new values of LockedHint and IdleHint in a signal.
    private static func hints(in message: Message) -> (isLocked: Bool?, isIdle: Bool?) {
        guard let (interface, values, _) = try? message.read(String.self, [String: Variant].self, [String].self),
            interface == Logind.sessionInterface
        else { return (nil, nil) }
        func hint(_ name: String) -> Bool? {
            if case .boolean(let value) = values[name] { value } else { nil }
        }
        return (hint("LockedHint"), hint("IdleHint"))
    }

    // MARK: Locking

    private func sessionSignal(_ message: Message) {
        switch message.member {
        case "Lock": lockAsked()
        case "Unlock" where state == .locking: change(to: .unlocked)
        default: break
        }
    }

    /// Counts the session as locked once a lock was requested.
    private func lockAsked() {
        guard state != .locked else { return }
        change(to: .locking)
        confirmation = BusActor.loop.schedule(after: configuration.confirmationTime) { [weak self] in
            guard let self, state == .locking else { return }
            logger.notice("The screen locker has not confirmed the lock to logind; treating the session as unlocked")
            change(to: .unlocked)
        }
    }

    private func change(to state: SessionState) {
        if let confirmation {
            BusActor.loop.cancel(confirmation)
            self.confirmation = nil
        }
        let before = self.state
        self.state = state
        if before.isLocked != state.isLocked {
            tell(state.isLocked ? .locked : .unlocked)
        }
    }

    private func change(toIdle isIdle: Bool) {
        guard isIdle != self.isIdle else { return }
        self.isIdle = isIdle
        tell(isIdle ? .idle : .active)
    }

    // MARK: Sleep

    private func prepareForSleep(_ message: Message) {
        guard let link, let isAboutToSleep = try? message.read(Bool.self) else { return }
        tell(isAboutToSleep ? .aboutToSleep : .wokeUp)
        if isAboutToSleep { inhibitor?.release() } else { inhibitor?.takeAgain(from: link.logind) }
    }

    // MARK: Events

    private func tell(_ event: SessionEvent) {
        for handler in handlers {
            handler(event)
        }
    }

    private func warnOnce(_ reason: String) {
        answered.fulfill()
        guard !hasWarned, !systemBus.isClosed else { return }
        hasWarned = true
        logger.notice(
            "Cannot find out whether the session is locked; treating it as \(state.isLocked ? "" : "un")locked",
            metadata: ["reason": "\(reason)"]
        )
    }
}
