import DBus
import Logging
import Vault

/// Deletes a locked collection, once its password has been given; the result is an empty string (#123).
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
        // It may have been dismissed after the answer, while the key was being derived; then nothing is lost.
        guard await provider.unlock(collection, asking: conversation), !conversation.isEnded else {
            return .dismissed(emptyResult)
        }
        do throws(BusError) {
            try await provider.delete(collection)
            return .done(emptyResult)
        } catch {
            provider.logger.error("A keychain could not be deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }
}
