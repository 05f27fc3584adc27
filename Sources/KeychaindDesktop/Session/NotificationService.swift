package import KeychaindDBus

/// Shows notifications with actions, one for each subject; a later one of a subject replaces the earlier.
///
/// Without a service for notifications, as at the start of a session, the latest of each subject waits for one. None is
/// activated.
@BusActor
package final class NotificationService {
    package typealias Subject = String

    private struct Waiting {
        let notification: DesktopNotification
        let whenShown: @BusActor () -> Void
    }

    private struct Shown {
        let number: UInt32
        let server: String
        /// By their keys, which no other notification has.
        let actions: [String: DesktopNotification.Action]
    }

    /// The notification whose number is not known yet.
    private struct Sending {
        let subject: Subject
        var isWithdrawn = false
        /// Events of notifications whose number is not known yet.
        var early: [Signal] = []
    }

    /// What the service tells of a notification.
    struct Signal {
        let number: UInt32
        let server: String
        /// The key of a pressed button; nil if the notification was closed.
        let key: String?

        static let members = ["ActionInvoked", "NotificationClosed"]

        /// Nil for another signal, or arguments of other types.
        init?(_ message: Message) {
            switch message.member {
            case "ActionInvoked":
                guard let (number, key) = try? message.read(UInt32.self, String.self) else { return nil }
                self.number = number
                self.key = key
            case "NotificationClosed":
                guard let (number, _) = try? message.read(UInt32.self, UInt32.self) else { return nil }
                self.number = number
                key = nil
            default:
                return nil
            }
            server = message.sender
        }
    }

    private let connection: Connection
    private var server: String?
    private var isFollowing = false
    private var waiting: [Subject: Waiting] = [:]
    private var shown: [Subject: Shown] = [:]
    private var sending: Sending?
    private var sentCount = 0
    private let lock = FairLock<Subject>(waitersPerOwner: 64)

    private static let patience = Duration.seconds(25)

    /// More signals of unknown numbers are those of other programs' notifications.
    private static let earlyLimit = 64

    package nonisolated init(on connection: Connection) {
        self.connection = connection
    }

    /// Shows a notification now, or once there is a service.
    ///
    /// - Parameter whenShown: called when the service has taken it.
    package func show(
        _ notification: DesktopNotification,
        about subject: Subject,
        whenShown: @escaping @BusActor () -> Void = {}
    ) {
        follow()
        waiting[subject] = Waiting(notification: notification, whenShown: whenShown)
        if server != nil { BusActor.start { [self] in await send(subject) } }
    }

    /// Closes the notification of a subject: its cause is gone.
    package func withdraw(_ subject: Subject) {
        waiting[subject] = nil
        if sending?.subject == subject { sending?.isWithdrawn = true }
        close(subject)
    }

    private func close(_ subject: Subject) {
        guard let shown = shown.removeValue(forKey: subject), shown.server == server else { return }
        let path = DesktopNotification.path
        let message = Message.call(to: shown.server, path, DesktopNotification.service, "CloseNotification")
        message.expectNoReply()
        message.append(shown.number)
        connection.send(message)
    }

    // MARK: The service

    private func follow() {
        guard !isFollowing else { return }
        isFollowing = true
        let name = DesktopNotification.service
        connection.followService(name) { [weak self] service in
            guard let self else { return }
            server = service
            // A new service does not know the numbers of the former.
            shown = [:]
            guard service != nil else { return }
            for subject in waiting.keys.sorted() { BusActor.start { [self] in await send(subject) } }
        }
        for member in Signal.members {
            let match = SignalMatch(sender: name, interface: name, member: member)
            connection.subscribe(to: match) { [weak self] message in
                if let signal = Signal(message) { self?.hear(signal) }
            }
        }
    }

    /// Handles a signal, now or once the number of its notification is known: a service may send it before its reply.
    private func hear(_ signal: Signal) {
        guard !handle(signal), let count = sending?.early.count, count < Self.earlyLimit else { return }
        sending?.early.append(signal)
    }

    /// Whether the signal was that of a notification that is shown.
    private func handle(_ signal: Signal) -> Bool {
        for (subject, shown) in shown where shown.number == signal.number && shown.server == signal.server {
            guard let key = signal.key else {
                self.shown[subject] = nil
                return true
            }
            guard let action = shown.actions[key] else { continue }
            // A button works once.
            self.shown[subject] = Shown(number: shown.number, server: shown.server, actions: [:])
            action.perform()
            return true
        }
        return false
    }

    /// Sends the waiting notification of a subject, one at a time.
    private func send(_ subject: Subject) async {
        guard case .acquired = await lock.lock(for: subject) else { return }
        defer { lock.unlock() }
        guard let server, let next = waiting.removeValue(forKey: subject) else { return }
        sending = Sending(subject: subject)
        defer { sending = nil }
        let canAct = next.notification.actions.isEmpty ? false : await canAct(server)
        let actions = canAct ? next.notification.actions : []
        sentCount += 1
        let keyed = actions.enumerated().map { (key: "\(sentCount).\($0.offset)", action: $0.element) }
        let former = shown[subject].flatMap { $0.server == server ? $0.number : nil } ?? 0
        let message = next.notification.call(of: server, replacing: former, with: keyed)
        guard let reply = try? await connection.call(message, timeout: Self.patience),
            let number = try? reply.read(UInt32.self)
        else {
            // The next service may take it.
            if waiting[subject] == nil, sending?.isWithdrawn == false { waiting[subject] = next }
            // It has come during the call, when this one did not wait.
            if self.server != nil, self.server != server { BusActor.start { [self] in await send(subject) } }
            return
        }
        shown[subject] = Shown(
            number: number,
            server: server,
            actions: Dictionary(keyed, uniquingKeysWith: { first, _ in first })
        )
        let early = sending?.early ?? []
        if sending?.isWithdrawn == true { return close(subject) }
        next.whenShown()
        for signal in early where signal.number == number { _ = handle(signal) }
    }

    private func canAct(_ server: String) async -> Bool {
        let path = DesktopNotification.path
        let message = Message.call(to: server, path, DesktopNotification.service, "GetCapabilities")
        guard let reply = try? await connection.call(message, timeout: Self.patience) else { return false }
        return Self.canAct(reply)
    }

    /// Whether a reply of `GetCapabilities` names actions.
    nonisolated static func canAct(_ reply: Message) -> Bool {
        (try? reply.read([String].self))?.contains("actions") ?? false
    }
}
