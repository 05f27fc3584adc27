package import DBus
import Glibc
package import Logging

/// Watches logind for the locking of the session and for sleep.
///
/// Only logind is heard: signals of the same name from anybody else on the bus change nothing. A logind that restarts is found
/// again; until it has answered, what was known last holds.
@BusActor
package final class SessionMonitor {
    /// How the monitor is set.
    package struct Configuration: Sendable {
        /// The session to watch; nil, or one that is not the user's, for the one that logind knows.
        package var sessionID: String? = getenv("XDG_SESSION_ID").map { String(cString: $0) }

        /// How long logind may take to answer a call.
        package var callTimeout = Duration.seconds(10)

        /// How long after it was asked to lock the session counts as locked, if its locker does not say that it is.
        ///
        /// Lockers that do not report to logind would otherwise leave the session locked for ever.
        package var confirmationTime = Duration.seconds(10)

        package init() {}
    }

    private let systemBus: SystemBus
    private let configuration: Configuration
    private let logger: Logger
    private var handlers: [@BusActor (SessionEvent) -> Void] = []
    private var link: Link?
    private var confirmation: Timer?
    private var sleepDelay = SleepDelay.none
    private var delaysSleep = false
    private var isAboutToSleep = false
    private var hasWarned = false

    /// Whether the session is locked.
    package private(set) var state = SessionState.unknown

    /// The connection to logind, as long as it is the same process.
    private final class Link {
        let logind: Logind
        var session: LogindSession?
        var subscriptions: [SubscriptionID] = []
        var sessionSubscriptions: [SubscriptionID] = []

        init(_ logind: Logind) {
            self.logind = logind
        }
    }

    /// Does nothing before ``start()``.
    package init(systemBus: SystemBus, configuration: Configuration = Configuration(), logger: Logger) {
        self.systemBus = systemBus
        self.configuration = configuration
        self.logger = logger
    }

    /// Tells of what happens from now on, in the order of the handlers; they must not wait.
    package func onEvent(_ handler: @escaping @BusActor (SessionEvent) -> Void) {
        handlers.append(handler)
    }

    /// Has the machine's sleep wait from now on until all have been told of it.
    package func delaySleep() {
        delaysSleep = true
        takeDelay()
    }

    /// Begins to watch; returns at once.
    package func start() {
        systemBus.follow { [weak self] connection in
            self?.link = nil
            self?.sleepDelay = .none
            connection?.followOwner(of: Logind.busName) { [weak self] owner in
                guard let self, let connection else { return }
                ownerChanged(owner, on: connection)
            }
        }
        BusActor.start { [self] in
            // Told at once, where it would otherwise only be found out by what does not happen.
            do throws(BusError) { _ = try await systemBus.connection() } catch { warnOnce("there is no system bus") }
        }
    }

    // MARK: logind

    private func ownerChanged(_ owner: String?, on connection: Connection) {
        unsubscribe()
        link = nil
        sleepDelay = .none
        guard let owner else { return warnOnce("logind does not run") }
        let link = Link(Logind(connection: connection, owner: owner, timeout: configuration.callTimeout))
        self.link = link
        link.subscriptions = [
            hear("SessionRemoved", of: link) { $0.sessionRemoved($1) },
            hear("SessionNew", of: link) { monitor, _ in monitor.sessionAdded() },
            hear("PrepareForSleep", of: link) { $0.prepareForSleep($1) },
        ]
        findSession(link)
        takeDelay()
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

    /// Hears logind's signals, for as long as it is this logind.
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

    private func findSession(_ link: Link) {
        BusActor.start { [self] in
            do throws(BusError) {
                let session = try await link.logind.findSession(
                    id: configuration.sessionID,
                    processID: UInt32(getpid()),
                    userID: getuid()
                )
                guard self.link === link, link.session == nil else { return }
                guard let session else {
                    warnOnce("the user has no session that logind knows")
                    return change(to: .unknown)
                }
                try await watch(session, link)
            } catch {
                guard self.link === link else { return }
                warnOnce("logind does not answer: \(error.message)")
                change(to: .unknown)
            }
        }
    }

    private func watch(_ session: LogindSession, _ link: Link) async throws(BusError) {
        link.session = session
        let (owner, path) = (link.logind.owner, session.path)
        var hasHeard = false
        link.sessionSubscriptions = [
            subscribe(link, to: SignalMatch(sender: owner, path: path, interface: Logind.sessionInterface)) {
                hasHeard = true
                $0.sessionSignal($1)
            },
            subscribe(
                link,
                to: SignalMatch(
                    sender: owner,
                    path: path,
                    interface: StandardInterface.properties,
                    member: "PropertiesChanged"
                )
            ) {
                let hints = SessionMonitor.hints(in: $1)
                if let isIdle = hints.isIdle { $0.tell(isIdle ? .idle : .active) }
                guard let isLocked = hints.isLocked else { return }
                hasHeard = true
                $0.change(to: isLocked ? .locked : .unlocked)
            },
        ]
        let isLocked = try await link.logind.lockedHint(of: session)
        // What was heard meanwhile is newer.
        guard self.link === link, link.session == session, !hasHeard else { return }
        change(to: isLocked ? .locked : .unlocked)
        logger.debug("Watching the session", metadata: ["session": "\(session.id)", "locked": "\(isLocked)"])
    }

    /// The new values of LockedHint and IdleHint, where the signal tells them.
    private static func hints(in message: Message) -> (isLocked: Bool?, isIdle: Bool?) {
        guard let (interface, values, _) = try? message.read(String.self, [String: Variant].self, [String].self),
            interface == Logind.sessionInterface
        else { return (nil, nil) }
        func hint(_ name: String) -> Bool? {
            if case .boolean(let value) = values[name] { value } else { nil }
        }
        return (hint("LockedHint"), hint("IdleHint"))
    }

    private func sessionAdded() {
        guard let link, link.session == nil else { return }
        findSession(link)
    }

    private func sessionRemoved(_ message: Message) {
        guard let link, let session = link.session,
            let (_, path) = try? message.read(String.self, ObjectPath.self), path == session.path
        else { return }
        for subscription in link.sessionSubscriptions {
            link.logind.connection.unsubscribe(subscription)
        }
        link.sessionSubscriptions = []
        link.session = nil
        tell(.ended)
        change(to: .unknown)
        findSession(link)
    }

    // MARK: Locking

    private func sessionSignal(_ message: Message) {
        switch message.member {
        case "Lock": lockAsked()
        case "Unlock" where state == .locking: change(to: .unlocked)
        default: break
        }
    }

    /// The session's locker was asked to lock, and what may not be seen behind a locked screen goes at once.
    private func lockAsked() {
        guard state != .locked else { return }
        change(to: .locking)
        confirmation = BusActor.loop.schedule(after: configuration.confirmationTime) { [weak self] in
            guard let self, state == .locking else { return }
            logger.notice("The screen locker does not tell logind that the screen is locked, so it counts as unlocked")
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

    // MARK: Sleep

    private func prepareForSleep(_ message: Message) {
        guard let isAboutToSleep = try? message.read(Bool.self) else { return }
        self.isAboutToSleep = isAboutToSleep
        tell(isAboutToSleep ? .aboutToSleep : .wokeUp)
        if isAboutToSleep {
            // Closes the descriptor, and with it ends the wait.
            sleepDelay = .none
        } else {
            takeDelay()
        }
    }

    private func takeDelay() {
        guard delaysSleep, !isAboutToSleep, let link, case .none = sleepDelay else { return }
        sleepDelay = .asking
        BusActor.start { [self] in
            let delay: SleepDelay
            do throws(BusError) {
                delay = .held(try await link.logind.delaySleep(reason: "Keychains are being locked"))
            } catch {
                logger.notice("logind does not wait before sleep", metadata: ["reason": "\(error.message)"])
                delay = .none
            }
            guard self.link === link, case .asking = sleepDelay else { return }
            sleepDelay = isAboutToSleep ? .none : delay
        }
    }

    // MARK: Telling

    private func tell(_ event: SessionEvent) {
        for handler in handlers {
            handler(event)
        }
    }

    private func warnOnce(_ reason: String) {
        guard !hasWarned else { return }
        hasWarned = true
        logger.notice(
            "Nobody tells when the session is locked, so it counts as unlocked",
            metadata: ["reason": "\(reason)"]
        )
    }
}
