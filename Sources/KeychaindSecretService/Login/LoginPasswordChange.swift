import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// A change of the account's password.
///
/// The old password is verified by the keychains it opens; these get the new one.
@BusActor
final class LoginPasswordChange: PasswordVerifier {
    private let vault: Vault
    private let passwords: Passwords
    private let logger: Logger
    private let newPassword = KeptPassword()

    /// The reply to the PAM module.
    private(set) var reply = LoginReply(.failed)

    init(to newPassword: consuming SecureBytes, of vault: Vault, passwords: Passwords, logger: Logger) {
        self.vault = vault
        self.passwords = passwords
        self.logger = logger
        self.newPassword.keep(newPassword)
    }

    var isSet: Bool { vault.hasPasscode }

    func verify(_ password: consuming SecureBytes) async -> PasswordResult {
        guard let new = newPassword.copy() else { return .failed(reason: "there is no memory for a password") }
        newPassword.forget()
        do throws(VaultError) {
            let change = try await vault.changePasswords(from: password, to: new)
            change.changed.forEach(passwords.passwordChanged)
            for (name, error) in change.failed {
                logger.error(
                    "A keychain keeps its old password",
                    metadata: ["keychain": "\(name)", "reason": "\(error)"]
                )
            }
            if change.failed.isEmpty {
                logger.notice("Keychains have the account's new password")
                reply = LoginReply(.changed, collections: change.changed.count)
            }
            // Only `login` counts: a password that opens other keychains is a failed attempt at it, whether or not they
            // could be changed.
            if change.changed.contains(.login) { return .right }
            let loginMayHaveIt = change.failed.contains { failure in failure.name == .login }
            return loginMayHaveIt ? .failed(reason: "the keychain 'login' keeps its old password") : .wrong()
        } catch  where error.code == .wrongPassword {
            reply = LoginReply(.wrong)
            return .wrong()
        } catch {
            logger.error("The keychains keep their old password", metadata: ["reason": "\(error)"])
            return .failed(reason: error.reason)
        }
    }
}
