import Authentication
import DBus
import KeychainModel
import Logging
import Vault

/// Deletes a collection that is locked, once its password has been given, or one whose items it is no small matter to lose; the
/// result is an empty string (#123).
@BusActor
final class DeletePrompt: PromptAction {
    private let collection: Collection
    private let provider: Provider

    init(_ collection: Collection, provider: Provider) {
        self.collection = collection
        self.provider = provider
    }

    var emptyResult: Variant { .string("") }

    /// Whether a person has to confirm that a collection is deleted, because of what is in it.
    static func needsConfirmation(_ collection: Collection, in vault: Vault) -> Bool {
        protectedItems(in: collection) > 0 || (collection.name == .login && !vault.itemsBoundToPasscode.isEmpty)
    }

    /// How many items of a collection are protected.
    static func protectedItems(in collection: Collection) -> Int {
        guard collection.hasProtectedItems else { return 0 }
        return collection.itemIDs.count { collection.protection(of: $0).needsAuthentication }
    }

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        // It may have been dismissed after the answer, while the key was being derived; then nothing is lost.
        guard await provider.unlock(collection, asking: conversation), await confirm(asking: conversation),
            !conversation.isEnded
        else { return .dismissed(emptyResult) }
        do throws(BusError) {
            try await provider.delete(collection, by: conversation.caller)
            return .done(emptyResult)
        } catch {
            provider.logger.error("A keychain could not be deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }

    /// Says before it is done what goes with the collection; with `login` goes the passcode, and what exists only with one.
    private func confirm(asking conversation: Conversation) async -> Bool {
        guard DeletePrompt.needsConfirmation(collection, in: provider.vault) else { return true }
        let bound = collection.name == .login ? provider.vault.itemsBoundToPasscode : []
        let labels = bound.map { $0.collection.item($0.item)?.label ?? "" }
        return await conversation.confirmDeletion(
            of: collection.label,
            for: await provider.callers.caller(conversation.caller),
            protectedItems: DeletePrompt.protectedItems(in: collection),
            boundToPasscode: labels
        )
    }
}
