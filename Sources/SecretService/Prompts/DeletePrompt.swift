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
    private let provider: Provider

    init(_ collection: Collection, provider: Provider) {
        self.collection = collection
        self.provider = provider
    }

    var emptyResult: Variant { .string("") }

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        let isAllowed = collection.name == .login ? await takeKey(conversation) : await confirm(conversation)
        // It may have been dismissed after the answer, while the key was being derived; then nothing is lost.
        guard isAllowed, !conversation.isEnded else { return .dismissed(emptyResult) }
        do throws(BusError) {
            try await provider.delete(collection, by: conversation.caller)
            return .done(emptyResult)
        } catch {
            provider.logger.error("A keychain could not be deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }

    /// Asks for the password of `login`, which is the passcode, and says what goes with it: the next one would be chosen by whoever
    /// makes the keychain anew.
    private func takeKey(_ conversation: Conversation) async -> Bool {
        let loss = LoginLoss(of: collection, in: provider.vault)
        guard await provider.askKey(of: collection, for: .deletion(loss), asking: conversation) != nil else {
            return false
        }
        // The person knows of no more than the dialog has said.
        return LoginLoss(of: collection, in: provider.vault) == loss
    }

    /// Unlocks it, and says before it is done which protected items go with it.
    private func confirm(_ conversation: Conversation) async -> Bool {
        guard await provider.unlock(collection, asking: conversation) else { return false }
        let count = collection.protectedItemCount
        guard count > 0 else { return true }
        let caller = await provider.callers.caller(conversation.caller)
        let isConfirmed = await conversation.confirmDeletion(of: collection.label, for: caller, protectedItems: count)
        return isConfirmed && collection.protectedItemCount <= count
    }
}
