import Authentication
import DBus
import Logging
import Vault

/// Deletes a protected item, once a person has proved for this what the item asks for; the result is an empty string (#123).
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
        do throws(AuthenticationError) {
            let authorization = try await provider.authorize(.delete, item, for: caller, asking: conversation)
            return await delete(authorization)
        } catch {
            provider.logger.debug("An authentication came to nothing", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }

    private func delete(_ authorization: ItemAuthorization) async -> PromptOutcome {
        do throws(BusError) {
            try await provider.delete(item.id, in: item.collection, by: caller, authorizedBy: authorization)
            return .done(emptyResult)
        } catch {
            provider.logger.info("An item was not deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }
}
