package import DBus
package import Logging

/// The system's own authentication dialog, shown by polkit: the user's login password, or what else PAM is told to ask for.
///
/// polkit asks for the action ``action``, which the installed file `org.keychaind.policy` declares as `auth_self`. The text of the dialog
/// is that of the file: polkit lets only root, and owners of the action that an administrator has named, say anything themselves.
@BusActor
package final class PolkitDialog: SystemDialog {
    /// What a person is asked to confirm.
    package nonisolated static let action = "org.keychaind.authenticate"

    private let bus: SystemBus
    private let subject: PolkitSubject?
    private let limits: PolkitLimits
    private let logger: Logger

    /// Creates a dialog that does not look for polkit yet.
    ///
    /// - Parameter subject: who is to prove to be the owner; nil for the user of this process.
    package init(
        bus: SystemBus,
        subject: PolkitSubject? = nil,
        limits: PolkitLimits = PolkitLimits(),
        logger: Logger
    ) {
        self.bus = bus
        self.subject = subject
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
    /// An authorization that polkit gives without asking – to root, or by a rule – proves nobody's presence, and is refused.
    func findAuthority() async throws(AuthenticationError) -> (PolkitAuthority, PolkitSubject) {
        let deadline = Deadline(after: limits.check)
        let result: PolkitResult
        let authority: PolkitAuthority
        let subject: PolkitSubject
        do throws(BusError) {
            authority = try await PolkitAuthority.find(on: bus, until: deadline)
            subject = self.subject ?? .connection(uniqueName: authority.connection.uniqueName)
            result = try await authority.check(subject, PolkitDialog.action, until: deadline)
        } catch {
            throw unavailable("polkit cannot be asked: \(error)")
        }
        guard !result.isAuthorized else { throw unavailable("polkit would grant without asking anybody") }
        guard result.isChallenge else { throw unavailable("polkit would refuse without asking anybody") }
        return (authority, subject)
    }

    private func unavailable(_ reason: String) -> AuthenticationError {
        logger.debug("The system's dialog cannot be used", metadata: ["reason": "\(reason)"])
        return AuthenticationError(.notInteractive, reason: reason)
    }
}
