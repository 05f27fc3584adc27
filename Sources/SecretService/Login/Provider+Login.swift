import Authentication
import DBus
package import Desktop
package import Gcrypt
import KeychainModel
import Logging
import Vault

/// What a login does to the keychains: PAM's module has told of it.
extension Provider: LoginKeychain {
    /// Unlocks `login`, or makes it on a fresh account.
    ///
    /// What root brings is what was typed at a login a moment ago; if the keychain has another password, the person is asked for both,
    /// once. Of anybody else's attempts only so many are made.
    package func unlock(_ password: consuming SecureBytes, from peer: LoginPeer) async {
        await logins.begin(.login)
        defer { logins.end(.login) }
        guard let login = vault.collection(named: .login) else { return }
        guard login.isLocked else { return logger.debug("A login finds its keychain unlocked") }
        switch peer {
        case .root: await unlock(login, atLoginWith: password)
        case .user:
            let verifier = CollectionPassword(of: login, provider: self)
            let attempt = await attempt(password, on: verifier, of: login, broughtBy: .programs)
            guard case .right = attempt else {
                return logger.notice("A password at the socket for logins did not unlock a keychain")
            }
        }
    }

    private func unlock(_ login: Collection, atLoginWith password: consuming SecureBytes) async {
        let given = GivenPasscode()
        given.keep(password)
        do throws(VaultError) {
            try await unlock(login, with: password)
            // What a login before this one was with is not the account's password.
            drifted.forget()
        } catch  where error.code == .wrongPassword {
            logger.notice("The keychain has another password than the account, and stays locked")
            if let password = given.copy() { rememberLoginPassword(password) }
        } catch {
            logger.error("The keychain stays locked after a login", metadata: ["reason": "\(error)"])
        }
    }

    /// Puts the account's new password in the place of the old one, in every keychain that the old one opens.
    ///
    /// Of the attempts of anybody but root only so many are made.
    package func change(
        _ password: consuming SecureBytes,
        to newPassword: consuming SecureBytes,
        from peer: LoginPeer
    ) async -> LoginReply {
        await logins.begin(.login)
        defer { logins.end(.login) }
        let replacement = LoginPasswordChange(to: newPassword, provider: self)
        switch peer {
        case .root:
            _ = await replacement.verify(password)
        case .user:
            guard let login = vault.collection(named: .login) else { break }
            let attempt = await attempt(password, on: replacement, of: login, broughtBy: .programs)
            if case .tooEarly = attempt { return LoginReply(.refused) }
        }
        return replacement.reply
    }
}
