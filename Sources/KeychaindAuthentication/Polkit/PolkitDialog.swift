package import KeychaindDBus
package import KeychaindDesktop
package import Logging

/// The system's authentication dialog, shown by polkit: the login password, or another PAM method.
///
/// The installed file `org.keychaind.policy` declares the action as `auth_self` and sets its text. polkit accepts other
/// texts only from root and the action's owners, which an administrator can set.
///
/// The subject is a process of another user. For the user's own processes, any program of the user could register as
/// the agent and would be asked first.
@BusActor
package final class PolkitDialog: SystemDialog {
    package nonisolated static let action = "org.keychaind.authenticate"

    private let bus: SystemBus
    private let subjects: any PolkitSubjectFinder
    private let limits: PolkitLimits
    private let logger: Logger
    private var hasTold = false

    /// - Parameter subjects: finds the process to ask polkit about.
    package init(
        bus: SystemBus,
        subjects: any PolkitSubjectFinder = SessionLeader(),
        limits: PolkitLimits = PolkitLimits(),
        logger: Logger
    ) {
        self.bus = bus
        self.subjects = subjects
        self.limits = limits
        self.logger = logger
    }

    /// Whether polkit is available, knows the action, and would ask.
    ///
    /// A missing polkit agent shows only when the dialog opens.
    package func isAvailable() async -> Bool {
        do throws(AuthenticationError) {
            _ = try await findAuthority()
            return true
        } catch {
            return false
        }
    }

    package func authenticate(_ message: String) -> any SystemAuthentication {
        let authentication = PolkitAuthentication(self, PromptText.text(message), limits)
        authentication.start()
        return authentication
    }

    /// Finds polkit and checks that it would ask.
    ///
    /// Refuses an authorisation without a dialog, as for root or by a rule: it proves nobody's presence.
    func findAuthority() async throws(AuthenticationError) -> (PolkitAuthority, PolkitSubject) {
        let deadline = Deadline(after: limits.check)
        let result: PolkitResult
        let authority: PolkitAuthority
        let subject: PolkitSubject
        do throws(BusError) {
            authority = try await PolkitAuthority.find(on: bus, until: deadline)
            subject = try await subjects.subject(on: authority.connection, until: deadline)
            result = try await authority.check(subject, PolkitDialog.action, until: deadline)
        } catch  where error.name == PolkitAuthority.notAuthorized {
            throw unavailable(
                """
                polkit allows only an owner of the action to ask about the session leader; an administrator can \
                name owners in the annotation org.freedesktop.policykit.owner
                """
            )
        } catch {
            throw unavailable("cannot ask polkit: \(error)")
        }
        guard !result.isAuthorized else { throw unavailable("polkit grants the action without a dialog") }
        guard result.isChallenge else { throw unavailable("polkit refuses the action without a dialog") }
        return (authority, subject)
    }

    /// Checks after an answer that the same process still leads the session.
    func confirm(_ subject: PolkitSubject, of authority: PolkitAuthority) async throws(AuthenticationError) {
        let current = try? await subjects.subject(on: authority.connection, until: Deadline(after: limits.check))
        guard current == subject else { throw unavailable("the session leader changed during the dialog") }
    }

    private func unavailable(_ reason: String) -> AuthenticationError {
        logger.log(
            level: hasTold ? .debug : .notice,
            "cannot use the system's authentication dialog; a prompter asks instead",
            metadata: ["reason": "\(reason)"]
        )
        hasTold = true
        return AuthenticationError(.notInteractive, reason: reason)
    }
}
