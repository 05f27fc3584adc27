import Authentication
import DBus
import Desktop
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Unlocks keychains: by a password that a program or a login brings, by asking a person, and by this computer.
@BusActor
final class Unlocker {
    let vault: Vault
    let collections: Collections
    let passwords: Passwords
    let host: any HostSealer
    let logger: Logger

    private let readiness: Readiness
    private let changes: ChangeNotifier
    /// The password of a login that does not open `login`.
    private let drifted = DriftedPassword()

    init(
        vault: Vault,
        collections: Collections,
        passwords: Passwords,
        host: any HostSealer,
        readiness: Readiness,
        changes: ChangeNotifier,
        logger: Logger
    ) {
        self.vault = vault
        self.collections = collections
        self.passwords = passwords
        self.host = host
        self.readiness = readiness
        self.changes = changes
        self.logger = logger
    }

    /// Unlocks a collection with a password from outside, such as at login.
    func unlock(_ collection: Collection, with password: consuming SecureBytes) async throws(VaultError) {
        let isPasscode = collection.name == .login && collection.isLocked
        try await collection.unlock(with: password)
        if isPasscode { await passwords.lockouts.people.passcodeWasRight() }
        logger.info("Unlocked a keychain", metadata: ["keychain": "\(collection.name)"])
        changes.lockChanged(collection)
    }

    /// Unlocks a collection by this computer, without asking anybody; a failure is logged.
    func unlockByHost(_ collection: Collection) async {
        // The keys of the previous process may have unlocked it.
        guard collection.isLocked else { return }
        guard collection.keySlots.contains(where: { slot in slot.kind == .host }) else {
            return logger.notice(
                "This computer has no key slot of a keychain",
                metadata: ["keychain": "\(collection.name)"]
            )
        }
        do throws(VaultError) {
            try await collection.unlock(byHost: host)
            logger.info("This computer has unlocked a keychain", metadata: ["keychain": "\(collection.name)"])
            changes.lockChanged(collection)
        } catch {
            logger.warning(
                "This computer did not unlock a keychain",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error.reason)"]
            )
        }
    }

    // MARK: Asking

    /// Unlocks a collection by asking for its password, again while it is wrong; false if that came to nothing.
    ///
    /// A conversation that waits for its turn also ends well when the collection is unlocked meanwhile.
    ///
    /// - Parameters:
    ///   - named: protected items that the dialog for the password of `login` names; it keeps that password.
    ///   - principal: the program for which the client asks, if it may say so.
    func unlock(
        _ collection: Collection,
        asking conversation: Conversation,
        for client: Client,
        naming named: NamedItems? = nil,
        onBehalfOf principal: Caller? = nil
    ) async -> Bool {
        await readiness.waitForKeys(of: [collection])
        if !collection.isLocked { return true }
        guard (try? await conversation.begin()) == true else { return false }
        await readiness.waitForKeys(of: [collection])
        var caller = await client.identity()
        if let principal { caller = principal }
        let verifier = CollectionPassword(of: collection, unlocker: self)
        while collection.isLocked {
            var hasDrifted = false
            var named = named
            let asked = await conversation.askPassword(
                verifiedBy: verifier,
                countedBy: passwords.lockouts.lockout(of: collection)
            ) {
                guard collection.isLocked, vault.collection(named: collection.name) === collection,
                    collections.mayGetFirstPassword(collection)
                else { return nil }
                let isLogin = collection.name == .login && !collection.isVacant
                hasDrifted = isLogin && drifted.isThere
                if !isLogin { named = nil }
                return unlockRequest(of: collection, hasDrifted: hasDrifted, named, for: caller, in: conversation)
            }
            switch consume asked {
            case .right(let key):
                await finish(collection, openedBy: key, hasDrifted, named?.passcode, asking: conversation, for: caller)
            case .unanswered:
                // The person is asked only once for the password of the login.
                if hasDrifted { drifted.forget() }
                return false
            case .stopped:
                return !collection.isLocked
            case .failed:
                return false
            }
        }
        return true
    }

    private func unlockRequest(
        of collection: Collection,
        hasDrifted: Bool,
        _ named: NamedItems?,
        for caller: Caller,
        in conversation: Conversation
    ) -> PromptRequest {
        if collection.isVacant {
            conversation.newPasswordRequest(of: collection.label, for: caller)
        } else if hasDrifted {
            conversation.formerPasswordRequest(of: collection.label, for: caller, named?.purpose)
        } else {
            conversation.passwordRequest(of: collection.label, for: caller, named?.purpose)
        }
    }

    /// Replaces the password of a keychain that was just unlocked, if it was forgotten or is not the account's, and keeps the passcode.
    private func finish(
        _ collection: Collection,
        openedBy key: consuming SecureBytes,
        _ hasDrifted: Bool,
        _ passcode: GivenPasscode?,
        asking conversation: Conversation,
        for caller: Caller
    ) async {
        let wasRecovered = collection.unlockedBy == .recoveryKey
        if hasDrifted {
            let typed = GivenPasscode()
            typed.keep(key)
            let isAdopted = await adoptLoginPassword(
                from: key,
                of: collection,
                asking: conversation,
                for: caller,
                keeping: passcode
            )
            if !isAdopted, !wasRecovered, let key = typed.copy() { passcode?.keep(key) }
        } else if wasRecovered {
            await replaceForgottenPassword(of: collection, openedBy: key, asking: conversation, for: caller)
        } else {
            passcode?.keep(key)
        }
    }

    /// Lets the user of a recovery key choose a password in place of the forgotten one.
    private func replaceForgottenPassword(
        of collection: Collection,
        openedBy key: consuming SecureBytes,
        asking conversation: Conversation,
        for caller: Caller
    ) async {
        guard
            let password = await conversation.askNewPassword(
                conversation.newPasswordRequest(of: collection.label, for: caller, insteadOf: .forgotten)
            )
        else { return }
        do throws(VaultError) {
            try await collection.changePassword(from: key, to: password)
            passwords.passwordChanged(of: collection.name)
            logger.notice("A keychain has a new password", metadata: ["keychain": "\(collection.name)"])
        } catch {
            logger.error("A keychain keeps its old password", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: The password of the account

    /// Keeps the password of a login that does not open `login`.
    ///
    /// The next person who is asked to unlock `login` is asked for this one, too; if they type the same, it becomes the keychain's.
    /// It is forgotten then in any case.
    func rememberLoginPassword(_ password: borrowing SecureBytes) {
        drifted.keep(password)
    }

    /// Forgets the password of an earlier login: `login` was unlocked by that of a later one.
    func forgetLoginPassword() {
        drifted.forget()
    }

    /// Gives the keychains that an old key opens the password of the last login, if the person knows it; false if `login` keeps its own.
    ///
    /// A login may have succeeded with a one-time code or with somebody else's password, which must not become the only way into a
    /// keychain.
    /// - Parameter passcode: keeps the password if `login` has it now.
    private func adoptLoginPassword(
        from old: consuming SecureBytes,
        of login: Collection,
        asking conversation: Conversation,
        for caller: Caller,
        keeping passcode: GivenPasscode?
    ) async -> Bool {
        defer { drifted.forget() }
        guard let new = await askLoginPassword(of: login, asking: conversation, for: caller) else {
            logger.notice("The keychain keeps its password", metadata: ["reason": "that of the login was not given"])
            return false
        }
        let given = GivenPasscode()
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
            if let new = given.copy() { passcode?.keep(new) }
            return true
        } catch {
            logger.error("The keychain keeps its old password", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// Asks for the password of the login that did not open the keychain; nil if the person does not type that one.
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
        // After a dismissal, everything stays as it was.
        guard let password = passwords.rightPassword(asked), !conversation.isEnded else { return nil }
        return password
    }

    /// The number of tries at the password of the login, which could be guessed otherwise.
    private static var loginPasswordAttempts: Int { 3 }
}
