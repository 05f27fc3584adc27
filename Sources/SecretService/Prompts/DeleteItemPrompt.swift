import Authentication
import DBus
import Logging
import Vault

/// Deletes a protected item, once what reading it needs was proved; the result is an empty string (#123).
@BusActor
final class DeleteItemPrompt: PromptAction {
    private let item: ProtectedItem
    private let caller: String
    private let provider: Provider

    init(_ item: ProtectedItem, for caller: String, provider: Provider) {
        self.item = item
        self.caller = caller
        self.provider = provider
    }

    var emptyResult: Variant { .string("") }

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        await provider.authenticate(to: .delete, item, for: caller, asking: conversation)
        // It may have been dismissed after the answer; then nothing is lost.
        guard !conversation.isEnded else { return .dismissed(emptyResult) }
        do throws(BusError) {
            let grant = try provider.access.authorize(item.id, in: item.collection, for: caller)
            try await provider.delete(item.id, in: item.collection, by: caller, authenticated: grant != nil)
            return .done(emptyResult)
        } catch {
            provider.logger.info("An item was not deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }
}
