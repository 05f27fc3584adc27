import Authentication
import DBus
import Desktop
package import Gcrypt
import KeychainModel
import Logging
package import Vault

/// Passwords of keychains: asked for, verified, and changed.
extension Provider {
    /// Takes note of a login whose password does not open the keychain `login`.
    ///
    /// The next time a person is asked to unlock that keychain, they are asked for this one as well, and the keychain gets it if they
    /// type the same. Whether or not they do, it is forgotten then.
    package func rememberLoginPassword(_ password: borrowing SecureBytes) {
        drifted.keep(password)
    }

    /// Unlocks a collection with this computer, and asks nobody; what keeps it from that is said in the log.
    package func unlockByHost(_ collection: Collection) async {
        // It may be unlocked by what the daemon before this one has left.
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

    /// Tries a key of a keychain, unless too many wrong ones were brought before.
    ///
    /// - Parameter party: who has brought it, and has to wait.
    func attempt(
        _ key: consuming SecureBytes,
        on verifier: any Passcode,
        of collection: Collection,
        broughtBy party: LockoutParty = .people
    ) async -> PasscodeAttempt {
        guard let keeper = lockouts.keeper(of: collection, for: party) else {
            // Its first password cannot be wrong.
            return switch await verifier.verify(key) {
            case .right: .right
            case .wrong: .wrong
            case .failed(let reason): .failed(reason: reason)
            }
        }
        let attempt = await keeper.attempt(key, on: verifier)
        // Wherever it is given, the right one ends what wrong ones have led to.
        if case .right = attempt, party == .programs {
            await lockouts.keeper(of: collection, for: .people)?.passcodeWasRight()
        }
        return attempt
    }

    /// Asks for a password or a recovery key of a keychain, again while it is wrong; nil if that came to nothing.
    func askKey(
        of collection: Collection,
        for purpose: KeyPurpose,
        asking conversation: Conversation
    ) async -> SecureBytes? {
        guard (try? await conversation.begin()) == true else { return nil }
        let caller = await callers.caller(conversation.caller)
        let verifier = KeychainKey(of: collection)
        var warning = ""
        while vault.collection(named: collection.name) === collection {
            guard
                let key = await conversation.askKey(of: collection.label, for: purpose, caller, warning: warning),
                let kept = try? key.copy(in: .locked)
            else { return nil }
            switch await attempt(key, on: verifier, of: collection, broughtBy: LockoutParty(conversation.trustOfAnswer))
            {
            case .right: return kept
            case .failed(let reason):
                logger.error("A password could not be verified", metadata: ["reason": "\(reason)"])
                return nil
            case let failed: warning = failed.warning(isMistyped: verifier.isMistyped)
            }
        }
        return nil
    }

    /// Gives the keychains that an old key opens the password of the login that has just been, if the person knows it.
    ///
    /// What was typed at a login may have been a mistake, a code for that once, or somebody else's: it must not become the only
    /// way into a keychain.
    /// - Parameter passcode: keeps the password if `login` has it now.
    /// - Returns: whether it has.
    func adoptLoginPassword(
        from old: consuming SecureBytes,
        of login: Collection,
        asking conversation: Conversation,
        keeping passcode: GivenPasscode?
    ) async -> Bool {
        defer { drifted.forget() }
        guard let new = await askLoginPassword(of: login, asking: conversation) else {
            logger.notice("The keychain keeps its password", metadata: ["reason": "that of the login was not given"])
            return false
        }
        let given = GivenPasscode()
        given.keep(new)
        do throws(VaultError) {
            let change = try await vault.changePasswords(from: old, to: new)
            for name in change.changed {
                passwordChanged(of: name)
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

    /// Asks for the password of the login that did not open the keychain; nil if the person does not give that one.
    private func askLoginPassword(of login: Collection, asking conversation: Conversation) async -> SecureBytes? {
        let caller = await callers.caller(conversation.caller)
        var warning = ""
        for _ in 0..<Self.loginPasswordAttempts where drifted.isThere {
            let answer = await conversation.askLoginPassword(of: login.label, for: caller, warning: warning)
            // It may have been dismissed after the answer; then everything stays as it was.
            guard let typed = answer, !conversation.isEnded else { return nil }
            if drifted.isEqual(to: typed) { return typed }
            warning = "You did not log in with that password."
        }
        return nil
    }

    /// How often a person may try to type what the login was with: it could be guessed.
    private static var loginPasswordAttempts: Int { 3 }

    /// Takes note that a keychain has another password now, or one less: what was proved with the passcode holds no longer.
    func passwordChanged(of collection: CollectionName) {
        endProofs(with: collection, because: "the password of the login keychain was changed")
    }

    /// Lets who has used a recovery key choose a password in the place of the one that was forgotten.
    func replaceForgottenPassword(
        of collection: Collection,
        openedBy key: consuming SecureBytes,
        asking conversation: Conversation
    ) async {
        let caller = await callers.caller(conversation.caller)
        guard
            let password = await conversation.askNewPassword(
                of: collection.label,
                for: caller,
                insteadOf: .forgotten
            )
        else { return }
        do throws(VaultError) {
            try await collection.changePassword(from: key, to: password)
            passwordChanged(of: collection.name)
            logger.notice("A keychain has a new password", metadata: ["keychain": "\(collection.name)"])
        } catch {
            logger.error("A keychain keeps its old password", metadata: ["reason": "\(error)"])
        }
    }
}

extension LockoutParty {
    /// Who has typed a password: what comes from a prompter that is not trusted may be a program's.
    init(_ trust: PrompterTrust) {
        self = trust == .trusted ? .people : .programs
    }
}
