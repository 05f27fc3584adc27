import Authentication
import DBus
import Desktop
import Gcrypt
import KeychainModel
import Logging
import Vault

/// The change of the account's password: the old one is verified by what it opens, and what it opens gets the new one.
@BusActor
final class LoginPasswordChange: PasswordVerifier {
    private let vault: Vault
    private let passwords: Passwords
    private let logger: Logger
    private let newPassword = GivenPasscode()

    /// What became of it.
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
            guard change.failed.isEmpty else { return .failed(reason: "a keychain keeps its old password") }
            logger.notice("Keychains have the account's new password")
            reply = LoginReply(.changed, collections: change.changed.count)
            // Who knows the password of another keychain has not proved to know that of `login`: it counts as an attempt at that.
            return change.changed.contains(.login) ? .right : .wrong()
        } catch  where error.code == .wrongPassword {
            reply = LoginReply(.wrong)
            return .wrong()
        } catch {
            logger.error("The keychains keep their old password", metadata: ["reason": "\(error)"])
            return .failed(reason: error.reason)
        }
    }
}
