import KeychaindAuthentication
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// The password of a login that does not open `login`.
extension Unlocker {
    /// Keeps the password of a login that does not open `login`.
    ///
    /// The next person who unlocks `login` is asked for this password, too. If they type it, it becomes the password of
    /// the keychain. It is forgotten in either case.
    func rememberLoginPassword(_ password: borrowing SecureBytes) {
        drifted.keep(password)
        if let login = vault.collection(named: .login) { notices.loginPasswordDiffers(login) }
    }

    /// Forgets the kept password: a later login unlocked `login`.
    func forgetLoginPassword() {
        drifted.forget()
        notices.resolve(.loginPassword)
    }

    /// Changes the keychains that a key opens to the password of the last login; false if `login` keeps its own.
    ///
    /// A person must type it: the login may have used a one-time code or another person's password, which must not
    /// become the only way into a keychain.
    ///
    /// - Parameter passcode: keeps the new password of `login`.
    func adoptLoginPassword(
        from old: consuming SecureBytes,
        of login: Collection,
        asking conversation: Conversation,
        for caller: Caller,
        keeping passcode: KeptPassword?
    ) async -> Bool {
        defer { drifted.forget() }
        guard let new = await askLoginPassword(of: login, asking: conversation, for: caller) else {
            logger.notice("The keychain keeps its password", metadata: ["reason": "that of the login was not given"])
            return false
        }
        let given = KeptPassword()
        given.keep(new)
        do throws(VaultError) {
            let change = try await vault.changePasswords(from: old, to: new)
            for name in change.changed {
                passwords.passwordChanged(of: name)
                logger.notice("A keychain has the password of the account again", metadata: ["keychain": "\(name)"])
            }
            for (name, error) in change.failed {
                logger.error(
                    "A keychain keeps its old password",
                    metadata: ["keychain": "\(name)", "reason": "\(error)"]
                )
            }
            guard change.changed.contains(login.name) else { return false }
            notices.resolve(.loginPassword)
            if let new = given.copy() { passcode?.keep(new) }
            return true
        } catch {
            logger.error("The keychain keeps its old password", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// Asks for the kept login password; nil if the person does not type it.
    private func askLoginPassword(
        of login: Collection,
        asking conversation: Conversation,
        for caller: Caller
    ) async -> SecureBytes? {
        let asked = await conversation.askPassword(
            tries: Self.loginPasswordAttempts,
            verifiedBy: drifted,
            // The number of tries is the bound.
            countedBy: PasswordLockout { _ in nil }
        ) {
            drifted.isThere ? conversation.loginPasswordRequest(of: login.label, for: caller) : nil
        }
        // A dismissal changes nothing.
        guard let password = passwords.rightPassword(asked), !conversation.isEnded else { return nil }
        return password
    }

    /// Maximum number of tries, against guessing the login password.
    private static var loginPasswordAttempts: Int { 3 }
}
