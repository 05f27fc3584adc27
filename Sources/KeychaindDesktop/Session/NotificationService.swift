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
        let actions: [DesktopNotification.Action]
    }

    private let connection: Connection
    private var server: String?
    private var isFollowing = false
    private var waiting: [Subject: Waiting] = [:]
    private var shown: [Subject: Shown] = [:]
    /// The subject that is being sent, and whether it was withdrawn meanwhile.
    private var sending: (subject: Subject, isWithdrawn: Bool)?
    private let lock = FairLock<Subject>(waitersPerOwner: 64)

    private static let patience = Duration.seconds(5)

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
        let name = DesktopNotification.service
        let message = Message.call(to: name, DesktopNotification.path, name, "CloseNotification")
        message.forbidActivation()
        message.expectNoReply()
        message.append(shown.number)
        connection.send(message)
    }

    // MARK: The service

    private func follow() {
        guard !isFollowing else { return }
        isFollowing = true
        let name = DesktopNotification.service
        connection.followOwner(of: name) { [weak self] owner in
            guard let self else { return }
            server = owner
            // A new service does not know the numbers of the former.
            shown = [:]
            guard owner != nil else { return }
            for subject in waiting.keys.sorted() { BusActor.start { [self] in await send(subject) } }
        }
        connection.subscribe(to: SignalMatch(sender: name, interface: name, member: "ActionInvoked")) {
            [weak self] message in
            guard let (number, key) = try? message.read(UInt32.self, String.self) else { return }
            self?.invoke(key, of: number, by: message.sender)
        }
        connection.subscribe(to: SignalMatch(sender: name, interface: name, member: "NotificationClosed")) {
            [weak self] message in
            guard let self, let (number, _) = try? message.read(UInt32.self, UInt32.self) else { return }
            for (subject, shown) in shown where shown.number == number && shown.server == message.sender {
                self.shown[subject] = nil
            }
        }
    }

    /// Sends the waiting notification of a subject, one at a time.
    private func send(_ subject: Subject) async {
        guard case .acquired = await lock.lock(for: subject) else { return }
        defer { lock.unlock() }
        guard let server, let next = waiting.removeValue(forKey: subject) else { return }
        sending = (subject, false)
        defer { sending = nil }
        let canAct = next.notification.actions.isEmpty ? false : await canAct
        let former = shown[subject].flatMap { $0.server == server ? $0.number : nil } ?? 0
        let message = next.notification.call(replacing: former, withActions: canAct)
        guard let reply = try? await connection.call(message, timeout: Self.patience),
            let number = try? reply.read(UInt32.self)
        else {
            // The next service may take it.
            if waiting[subject] == nil, sending?.isWithdrawn == false { waiting[subject] = next }
            return
        }
        shown[subject] = Shown(
            number: number,
            server: reply.sender,
            actions: canAct ? next.notification.actions : []
        )
        if sending?.isWithdrawn == true { close(subject) } else { next.whenShown() }
    }

    private var canAct: Bool {
        get async {
            let name = DesktopNotification.service
            let message = Message.call(to: name, DesktopNotification.path, name, "GetCapabilities")
            message.forbidActivation()
            let reply = try? await connection.call(message, timeout: Self.patience)
            return (try? reply?.read([String].self))?.contains("actions") ?? false
        }
    }

    /// Performs the action of a notification, once.
    private func invoke(_ key: String, of number: UInt32, by sender: String) {
        for (subject, shown) in shown where shown.number == number && shown.server == sender {
            guard let index = Int(key), shown.actions.indices.contains(index) else { continue }
            self.shown[subject] = Shown(number: number, server: sender, actions: [])
            shown.actions[index].perform()
        }
    }
}
