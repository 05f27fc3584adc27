import Authentication
import DBus
import Desktop
import KeychainModel
import Logging
import Vault

/// Deletes a collection that is locked, once its password has been given, one that has protected items, once a person has confirmed
/// that, or `login`, always with its password; the result is an empty string (#123).
@BusActor
final class DeletePrompt: PromptAction {
    private let collection: Collection
    private let unlocker: Unlocker

    init(_ collection: Collection, unlocker: Unlocker) {
        self.collection = collection
        self.unlocker = unlocker
    }

    var emptyResult: Variant { .string("") }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        let isAllowed =
            collection.name == .login ? await takeKey(conversation, client) : await confirm(conversation, client)
        // It may have been dismissed after the answer, while the key was being derived; then nothing is lost.
        guard isAllowed, !conversation.isEnded else { return .dismissed(emptyResult) }
        do throws(BusError) {
            try await unlocker.collections.delete(collection, by: client)
            return .done(emptyResult)
        } catch {
            unlocker.logger.error("A keychain could not be deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }

    /// Asks for the password of `login`, which is the passcode, and says what goes with it: the next one would be chosen by whoever
    /// makes the keychain anew.
    private func takeKey(_ conversation: Conversation, _ client: Client) async -> Bool {
        let loss = LoginLoss(of: collection, in: unlocker.vault)
        guard
            await unlocker.passwords.askKey(
                of: collection,
                for: .deletion(loss),
                asking: conversation,
                for: client
            ) != nil
        else {
            return false
        }
        // The person knows of no more than the dialog has said.
        return LoginLoss(of: collection, in: unlocker.vault) == loss
    }

    /// Unlocks it, and says before it is done which protected items go with it.
    private func confirm(_ conversation: Conversation, _ client: Client) async -> Bool {
        guard await unlocker.unlock(collection, asking: conversation, for: client) else { return false }
        let count = collection.protectedItemCount
        guard count > 0 else { return true }
        let caller = await client.caller()
        let isConfirmed = await conversation.confirmDeletion(of: collection.label, for: caller, protectedItems: count)
        return isConfirmed && collection.protectedItemCount <= count
    }
}
