import Glibc
import KeychaindDBus

/// Watches the user's session in one logind process: that of this process, or else the user's display session.
///
/// A signal never says what the state is, only that it has changed: then everything is read again, one reading at a
/// time. So the order of signals means nothing. Signals of other senders are ignored. logind sends none when a session
/// begins to close, which it does at the latest when the leader ends: other processes may outlive it.
@BusActor
final class SessionWatch {
    enum Event {
        /// The user's session, as it was just read.
        case session(LogindSession, isLocked: Bool, isIdle: Bool)
        /// The user has no session, or only closing ones.
        case none
        /// logind does not answer, and is asked again after a pause.
        case failed(BusError)
        case lockRequested
        case unlockRequested
        /// A signal said that the screen is locked, which is not read yet.
        case locked
        case aboutToSleep
        case wokeUp
    }

    private enum Reading {
        case none
        /// Outdated once a signal has come, so that another reading follows.
        case running(isOutdated: Bool)
        /// Nothing is watched any more.
        case ended
    }

    /// The process that has opened the session, such as one of sshd or of a display manager.
    private enum Leader {
        case unknown
        case running(ProcessWatch)
        /// Has ended, or cannot be watched.
        case ended
    }

    let logind: Logind
    private let configuration: SessionMonitor.Configuration
    private let report: @BusActor (Event) -> Void
    private var reading = Reading.none
    private var pause: Duration
    private var retry: Timer?
    private var user: ObjectPath?
    private var session: ObjectPath?
    private var leader = Leader.unknown
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
            hear("SessionRemoved") { watch, _ in watch.read() },
            hear("SessionNew") { watch, _ in watch.read() },
            hear("PrepareForSleep") { watch, message in
                guard let isAboutToSleep = try? message.read(Bool.self) else { return }
                watch.report(isAboutToSleep ? .aboutToSleep : .wokeUp)
            },
        ]
        read()
    }

    /// Stops to watch, for good.
    func end() {
        reading = .ended
        follow(nil)
        unsubscribe(subscriptions)
        subscriptions = []
        if let retry { BusActor.loop.cancel(retry) }
        retry = nil
    }

    // MARK: Reading

    /// Reads the state of the user's session, or reads it again after a reading that goes on.
    private func read() {
        switch reading {
        case .none: reading = .running(isOutdated: false)
        case .running: return reading = .running(isOutdated: true)
        case .ended: return
        }
        BusActor.start { [self] in
            while case .running = reading {
                reading = .running(isOutdated: false)
                await readOnce()
                if case .running(isOutdated: false) = reading { reading = .none }
            }
        }
    }

    private func readOnce() async {
        do throws(BusError) {
            let session = try await currentSession()
            guard !hasEnded else { return }
            follow(session?.path)
            if let session {
                try await followLeader(of: session)
                let isLocked = try await logind.lockedHint(of: session)
                let isIdle = try await logind.idleHint(of: session)
                // The screen may have been locked meanwhile.
                guard !hasEnded, isLocked || !isOutdated else { return }
                report(.session(session, isLocked: isLocked, isIdle: isIdle))
            } else {
                report(.none)
            }
            pause = configuration.pause
        } catch {
            // A session that ends meanwhile cannot be read.
            guard !hasEnded, !isOutdated else { return }
            report(.failed(error))
            readLater()
        }
    }

    private var isOutdated: Bool { if case .running(isOutdated: true) = reading { true } else { false } }

    private var hasEnded: Bool { if case .ended = reading { true } else { false } }

    /// Reads again after a pause; until then, what is known holds.
    private func readLater() {
        guard retry == nil else { return }
        retry = BusActor.loop.schedule(after: pause) { [weak self] in
            guard let self else { return }
            retry = nil
            read()
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
        if self.user != user, !hasEnded {
            self.user = user
            subscriptions.append(hearChanges(of: user) { watch, _ in watch.read() })
        }
        return try await logind.display(of: user, userID)
    }

    /// Hears the signals of a session instead of those of another.
    private func follow(_ session: ObjectPath?) {
        guard self.session != session else { return }
        self.session = session
        unsubscribe(sessionSubscriptions)
        sessionSubscriptions = []
        leader = .unknown
        guard let session else { return }
        sessionSubscriptions = [
            subscribe(to: signals(from: session, Logind.sessionInterface)) { watch, message in
                switch message.member {
                case "Lock": watch.report(.lockRequested)
                case "Unlock": watch.report(.unlockRequested)
                default: return
                }
            },
            hearChanges(of: session) { watch, message in
                // At once: the screen may be unlocked again when the state is read.
                if Self.tellsOfLock(message) { watch.report(.locked) }
                watch.read()
            },
        ]
    }

    /// Watches the leader of a session, unless that was done before, or it has ended.
    private func followLeader(of session: LogindSession) async throws(BusError) {
        guard case .unknown = leader else { return }
        let process = try await logind.leader(of: session)
        guard !hasEnded else { return }
        let watch = process.flatMap { process in
            ProcessWatch(process) { [weak self] in
                self?.leader = .ended
                self?.read()
            }
        }
        leader = watch.map(Leader.running) ?? .ended
        // It may have ended after the state was read.
        read()
    }

    /// Whether a signal tells that the screen is locked.
    nonisolated static func tellsOfLock(_ message: Message) -> Bool {
        guard let (interface, values, _) = try? message.read(String.self, [String: Variant].self, [String].self),
            interface == Logind.sessionInterface, case .boolean(true) = values["LockedHint"]
        else { return false }
        return true
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
            guard let self, !hasEnded else { return }
            handler(self, message)
        }
    }

    private func unsubscribe(_ subscriptions: [SubscriptionID]) {
        for subscription in subscriptions {
            logind.connection.unsubscribe(subscription)
        }
    }
}
