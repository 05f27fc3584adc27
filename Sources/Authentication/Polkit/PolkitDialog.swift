package import DBus
package import Desktop
package import Logging

/// The system's own authentication dialog, shown by polkit: the user's login password, or what else PAM is told to ask
/// for.
///
/// polkit asks for the action ``action``, which the installed file `org.keychaind.policy` declares as `auth_self`. The
/// text of the dialog is that of the file: polkit lets only root, and owners of the action that an administrator has
/// named, say anything themselves.
///
/// The subject is a process that the user does not own, for a program of the user may register as the agent of any that
/// the user does, keychaind's own included, and would be asked before the session's agent.
@BusActor
package final class PolkitDialog: SystemDialog {
    /// What a person is asked to confirm.
    package nonisolated static let action = "org.keychaind.authenticate"

    private let bus: SystemBus
    private let subjects: any PolkitSubjectFinder
    private let limits: PolkitLimits
    private let logger: Logger
    private var hasTold = false

    /// Creates a dialog that does not look for polkit yet.
    ///
    /// - Parameter subjects: finds the process that polkit is asked about.
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

    /// Whether polkit is there, knows the action, and would ask a person.
    ///
    /// Whether it has a program that shows its dialog is known only when that is needed.
    package func isAvailable() async -> Bool {
        do throws(AuthenticationError) {
            _ = try await findAuthority()
            return true
        } catch {
            return false
        }
    }

    /// Shows the dialog.
    package func authenticate(_ message: String) -> any SystemAuthentication {
        let authentication = PolkitAuthentication(self, PromptText.text(message), limits)
        authentication.start()
        return authentication
    }

    /// Finds polkit, and sees that it would ask.
    ///
    /// An authorization that polkit gives without asking – to root, or by a rule – proves nobody's presence, and is
    /// refused.
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
                polkit lets only an owner of the action ask about the leader of the session; an administrator names owners in the \
                annotation org.freedesktop.policykit.owner
                """
            )
        } catch {
            throw unavailable("polkit cannot be asked: \(error)")
        }
        guard !result.isAuthorized else { throw unavailable("polkit would grant without asking anybody") }
        guard result.isChallenge else { throw unavailable("polkit would refuse without asking anybody") }
        return (authority, subject)
    }

    /// Sees, after an answer, that it was about the process that was meant: that one has not ended, and still leads the
    /// session.
    func confirm(_ subject: PolkitSubject, of authority: PolkitAuthority) async throws(AuthenticationError) {
        let current = try? await subjects.subject(on: authority.connection, until: Deadline(after: limits.check))
        guard current == subject else { throw unavailable("the leader of the session has changed") }
    }

    private func unavailable(_ reason: String) -> AuthenticationError {
        logger.log(
            level: hasTold ? .debug : .notice,
            "The system's dialog cannot be used; a prompter asks instead",
            metadata: ["reason": "\(reason)"]
        )
        hasTold = true
        return AuthenticationError(.notInteractive, reason: reason)
    }
}
