import Authentication
import DBus
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Tries passwords and recovery keys of keychains, and asks people for them.
@BusActor
final class Passwords {
    let vault: Vault
    let lockouts: LockoutTable
    let logger: Logger

    private let collections: Collections

    init(vault: Vault, lockouts: LockoutTable, collections: Collections, logger: Logger) {
        self.vault = vault
        self.lockouts = lockouts
        self.collections = collections
        self.logger = logger
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
        asking conversation: Conversation,
        for client: Client
    ) async -> SecureBytes? {
        guard (try? await conversation.begin()) == true else { return nil }
        let caller = await client.identity()
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

    /// Ends the proofs of contexts if a keychain whose password was changed or removed is `login`.
    func passwordChanged(of collection: CollectionName) {
        collections.endProofs(with: collection, because: "the password of the login keychain was changed")
    }
}

extension LockoutParty {
    /// The party behind an answer: an answer from an untrusted prompter may be a program's.
    init(_ trust: PrompterTrust) {
        self = trust == .trusted ? .people : .programs
    }
}
