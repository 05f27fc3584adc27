import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault
import Logging

/// Deletes a collection that needs a person's consent; the result is an empty string (#123).
///
/// A locked collection needs its password, protected items a confirmation, and `login` always its password. A missing
/// one has nothing left that could verify a password, so it needs a confirmation. Rules are asked once its items are
/// known.
@BusActor
final class DeletePrompt: PromptAction {
    private let collection: Collection
    private let unlocker: Unlocker
    private let rules: DeletionRules

    init(_ collection: Collection, unlocker: Unlocker, rules: DeletionRules) {
        self.rules = rules
        self.collection = collection
        self.unlocker = unlocker
    }

    var emptyResult: Variant { .string("") }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        guard await rulesAllow(client, asking: conversation) else { return .dismissed(emptyResult) }
        let isAllowed: Bool
        if collection.isMissing {
            isAllowed = await conversation.confirmForgetting(collection.label, for: client.caller())
        } else if collection.name == .login {
            isAllowed = await takeKey(conversation, client)
        } else {
            isAllowed = await confirm(conversation, client)
        }
        // The prompt may have been dismissed after the answer, while the key was derived.
        guard isAllowed, !conversation.isEnded else { return .dismissed(emptyResult) }
        // The person has consented to the loss of these. Those of a locked keychain may be unknown.
        let limit = collection.isLocked ? nil : collection.protectedItemCount
        do throws(BusError) {
            // The unlock may have revealed the items, and the rules may have changed while the person was asked.
            try await rules.check(collection, for: client)
            guard !conversation.isEnded else { return .dismissed(emptyResult) }
            try await unlocker.collections.delete(collection, withProtectedItems: limit, by: client)
            return .done(emptyResult)
        } catch {
            unlocker.logger.error("A keychain could not be deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }

    /// Unlocks a collection whose items no rule can be compared with yet; false if that fails, or a rule forbids one.
    ///
    /// `login` is unlocked with the password that ``takeKey(_:_:)`` asks for.
    private func rulesAllow(_ client: Client, asking conversation: Conversation) async -> Bool {
        if collection.name != .login, rules.needsUnlock(of: collection) {
            guard await unlocker.unlock(collection, asking: conversation, for: client) else { return false }
        }
        do throws(BusError) {
            try await rules.check(collection, for: client)
            return true
        } catch {
            unlocker.logger.info("A keychain was not deleted", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// Asks for the password of `login` and states the loss; unlocks `login` with it if the rules need that.
    ///
    /// That password is the passcode, and whoever creates `login` again would choose the next one.
    private func takeKey(_ conversation: Conversation, _ client: Client) async -> Bool {
        let loss = LoginLoss(of: collection, in: unlocker.vault)
        let key = await unlocker.passwords.askKey(
            of: collection,
            for: .deletion(loss),
            asking: conversation,
            for: client
        )
        // The person has consented only to the stated loss.
        guard let key, LoginLoss(of: collection, in: unlocker.vault) == loss else { return false }
        guard !conversation.isEnded, rules.needsUnlock(of: collection) else { return true }
        do throws(VaultError) {
            try await unlocker.unlock(collection, with: key, for: client)
            return true
        } catch {
            unlocker.logger.error("A keychain could not be deleted", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// Unlocks the collection, and asks for a confirmation if it has protected items.
    private func confirm(_ conversation: Conversation, _ client: Client) async -> Bool {
        guard await unlocker.unlock(collection, asking: conversation, for: client) else { return false }
        let count = collection.protectedItemCount
        guard count > 0 else { return true }
        let caller = await client.caller()
        let isConfirmed = await conversation.confirmDeletion(of: collection.label, for: caller, protectedItems: count)
        return isConfirmed && collection.protectedItemCount <= count
    }
}
