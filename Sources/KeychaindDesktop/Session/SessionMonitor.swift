import Glibc
package import KeychaindDBus
package import Logging

/// Watches logind for locks of the user session and for sleep.
///
/// After a restart of logind, the last known state holds until it answers.
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

    /// What logind says of a session of the user.
    private enum Presence {
        case unknown
        case none
        /// There is one, or there was when the process before this one ended.
        case present
    }

    private let systemBus: SystemBus
    private let configuration: Configuration
    private let logger: Logger
    private var handlers: [@BusActor (SessionEvent) -> Void] = []
    private var watch: SessionWatch?
    private var confirmation: Timer?
    private var inhibitor: SleepInhibitor?
    private var presence = Presence.unknown
    private var isIdle = false
    private var hasWarned = false
    /// Fulfilled once it is known whether the session is locked, or that this cannot be found out.
    private let answered = Promise<Void>()

    package private(set) var state = SessionState.unknown

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
        if let watch { inhibitor.take(from: watch.logind) }
    }

    package func stopDelayingSleep() {
        // The lock ends with its descriptor.
        inhibitor = nil
    }

    /// Starts to watch; returns at once.
    package func start() {
        systemBus.follow { [weak self] connection in
            guard let self else { return }
            endWatching()
            guard let connection else { return warnOnce("the connection to the system bus was lost") }
            connection.followOwner(of: Logind.busName) { [weak self] owner in
                self?.ownerChanged(owner, on: connection)
            }
        }
        BusActor.start { [self] in
            do throws(BusError) { _ = try await systemBus.connection() } catch { warnOnce("there is no system bus") }
        }
    }

    /// Waits until it is known whether the session is locked, or that this cannot be found out.
    package func waitForAnswer(within time: Duration) async {
        _ = await answered.wait(within: time)
    }

    /// Whether the user has a session, as far as logind has said so.
    package var hasSession: Bool { if case .present = presence { true } else { false } }

    /// Follows a process that has watched a session: if there is none any more, it has ended in between.
    package func takeOver() {
        switch presence {
        case .unknown: presence = .present
        case .none: tell(.ended)
        case .present: break
        }
    }

    // MARK: logind

    private func ownerChanged(_ owner: String?, on connection: Connection) {
        endWatching()
        guard let owner else { return warnOnce("logind is not running") }
        let logind = Logind(connection: connection, owner: owner, timeout: configuration.callTimeout)
        let watch = SessionWatch(logind, configuration) { [weak self] in self?.heard($0) }
        self.watch = watch
        watch.start()
        inhibitor?.take(from: logind)
    }

    private func endWatching() {
        watch?.end()
        watch = nil
        inhibitor?.reset()
    }

    private func heard(_ event: SessionWatch.Event) {
        switch event {
        case .session(let session, let isLocked, let isIdle):
            // A requested lock is not there yet.
            if isLocked || state != .locking { change(to: isLocked ? .locked : .unlocked) }
            change(toIdle: isIdle)
            presence = .present
            hasWarned = false
            answered.fulfill()
            logger.debug("Watching the session", metadata: ["session": "\(session.id)", "state": "\(state)"])
        case .none:
            if hasSession { tell(.ended) } else { warnOnce("logind knows no session of the user") }
            presence = .none
            answered.fulfill()
            change(to: .unknown)
        case .failed(let error): warnOnce("logind does not answer: \(error.message)")
        case .lockRequested: lockRequested()
        case .unlockRequested: if state == .locking { change(to: .unlocked) }
        case .locked: change(to: .locked)
        case .aboutToSleep:
            tell(.aboutToSleep)
            inhibitor?.release()
        case .wokeUp:
            tell(.wokeUp)
            if let watch { inhibitor?.takeAgain(from: watch.logind) }
        }
    }

    // MARK: Locking

    /// Counts the session as locked once a lock was requested.
    private func lockRequested() {
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
