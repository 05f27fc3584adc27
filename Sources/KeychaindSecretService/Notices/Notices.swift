package import KeychaindDBus
package import KeychaindDesktop
import KeychaindModel
import KeychaindVault

/// Notifies a person on the desktop of what no open dialog can say.
///
/// One for each cause, also across restarts; once a subject is resolved, the same cause is reported again. Each subject
/// has a pause after a notification: programs cause some of them.
@BusActor
package final class Notices {
    package enum Subject: String, CaseIterable, Sendable {
        case configuration
        /// The key slot of this computer did not open `login`.
        case host
        /// The password of a login is not that of `login`.
        case loginPassword = "login-password"
        case unreadable
        /// Another program has put an older state in place of a keychain, or something else.
        case older
        case reader
        /// A secret was withheld, since its release could not be recorded.
        case audit
    }

    private struct Latest {
        let cause: String
        let notification: DesktopNotification
    }

    weak var provider: Provider?

    /// Which programs read what.
    package let programs: ProgramNotices

    private let service: NotificationService
    private let vault: Vault
    /// The last notification about each subject since the start.
    private var latest: [Subject: Latest] = [:]
    /// The subjects without a cause, for which nothing is stored.
    private var resolved: Set<Subject> = []
    private var pauses: [Subject: Timer] = [:]
    /// The subjects whose latest cause came during their pause.
    private var late: Set<Subject> = []

    private static let pause = Duration.seconds(10)

    init(on connection: Connection, vault: Vault) {
        service = NotificationService(on: connection)
        self.vault = vault
        programs = ProgramNotices(service, vault)
    }

    /// Shows a notification, unless the person was told of this cause last.
    package func tell(_ subject: Subject, because cause: String, _ notification: DesktopNotification) {
        guard latest[subject]?.cause != cause else { return }
        latest[subject] = Latest(cause: cause, notification: notification)
        resolved.remove(subject)
        if pauses[subject] == nil { show(subject) } else { late.insert(subject) }
    }

    /// Withdraws a notification; when its cause returns, that is reported again.
    package func resolve(_ subject: Subject) {
        guard resolved.insert(subject).inserted else { return }
        latest[subject] = nil
        late.remove(subject)
        service.withdraw(subject.rawValue)
        vault.setTold(nil, about: subject.rawValue)
    }

    /// Withdraws a notification about this keychain, with whose name its cause begins.
    func resolve(_ subject: Subject, of name: CollectionName) {
        if latest[subject]?.cause.hasPrefix("\(name): ") == true { resolve(subject) }
    }

    private func show(_ subject: Subject) {
        guard let shown = latest[subject] else { return }
        pauses[subject] = BusActor.loop.schedule(after: Notices.pause) { [self] in
            pauses[subject] = nil
            if late.remove(subject) != nil { show(subject) }
        }
        BusActor.start { [self] in
            guard await !vault.wasTold(shown.cause, about: subject.rawValue), latest[subject]?.cause == shown.cause
            else { return }
            service.show(shown.notification, about: subject.rawValue) { [vault] in
                vault.setTold(shown.cause, about: subject.rawValue)
            }
        }
    }
}
