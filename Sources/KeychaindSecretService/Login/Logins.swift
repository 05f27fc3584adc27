import KeychaindAuthentication
package import KeychaindDBus
package import KeychaindDesktop
package import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// Unlocks `login` at a login and changes its password with the account's, on request of the PAM module.
@BusActor
package final class Logins: LoginKeychain {
    private let vault: Vault
    private let unlocker: Unlocker
    private let passwords: Passwords
    private let audit: AccessAudit
    private let logger: Logger
    private let lock = KeyedLock<CollectionName>()

    init(vault: Vault, unlocker: Unlocker, passwords: Passwords, audit: AccessAudit, logger: Logger) {
        self.vault = vault
        self.unlocker = unlocker
        self.passwords = passwords
        self.audit = audit
        self.logger = logger
    }

    /// Unlocks `login`, or creates it for a new account.
    ///
    /// Root sends the password of a login; if the keychain has another one, a person is asked once for both. Attempts
    /// by any other user are counted.
    package func unlock(_ password: consuming SecureBytes, from peer: LoginPeer) async {
        let begun = vault.unlockStart
        await lock.lock(.login)
        defer { lock.unlock(.login) }
        await unlocker.collections.takeUpReturned()
        guard let login = vault.collection(named: .login) else { return }
        guard login.isLocked else { return logger.debug("The keychain of a login is already unlocked") }
        switch peer {
        case .root: await unlock(login, atLoginWith: password, begun)
        case .user:
            let verifier = CollectionPassword(of: login, begun: begun, unlocker: unlocker)
            let lockout = passwords.lockouts.lockout(of: login)
            let result = await lockout.attempt(password, on: verifier, from: .program)
            auditIfWrong(result)
            guard result == .right else {
                return logger.notice("A password at the socket for logins did not unlock a keychain")
            }
        }
    }

    private func unlock(
        _ login: Collection,
        atLoginWith password: consuming SecureBytes,
        _ begun: LockMoment
    ) async {
        let given = KeptPassword()
        given.keep(password)
        do throws(VaultError) {
            if try await unlocker.unlock(login, with: password, begun: begun) { unlocker.forgetLoginPassword() }
        } catch  where error.code == .wrongPassword {
            logger.notice("The keychain has another password than the account, and stays locked")
            if let password = given.copy() { unlocker.rememberLoginPassword(password) }
        } catch {
            logger.error("The keychain stays locked after a login", metadata: ["reason": "\(error)"])
        }
    }

    /// Changes the password of every keychain that the old one opens.
    ///
    /// Attempts by any user but root are counted.
    package func change(
        _ password: consuming SecureBytes,
        to newPassword: consuming SecureBytes,
        from peer: LoginPeer
    ) async -> LoginReply {
        await lock.lock(.login)
        defer { lock.unlock(.login) }
        let replacement = LoginPasswordChange(to: newPassword, of: vault, passwords: passwords, logger: logger)
        switch peer {
        case .root:
            _ = await replacement.verify(password)
        case .user:
            guard let login = vault.collection(named: .login) else { break }
            let lockout = passwords.lockouts.lockout(of: login)
            let result = await lockout.attempt(password, on: replacement, from: .program)
            auditIfWrong(result)
            switch result {
            case .tooEarly, .notCounted: return LoginReply(.refused)
            case .right, .wrong, .notNeeded, .failed: break
            }
        }
        return replacement.reply
    }

    private func auditIfWrong(_ result: PasswordResult) {
        guard case .wrong = result else { return }
        let caller = Caller.opaque("", reason: Text("it sent a password to the socket for logins"))
        audit.passwordWasWrong(of: .login, from: caller)
    }
}
