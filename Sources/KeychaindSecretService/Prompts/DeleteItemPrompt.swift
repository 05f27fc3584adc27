import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault
import Logging

/// Deletes a protected item after an authentication by its policy; the result is an empty string (#123).
@BusActor
final class DeleteItemPrompt: PromptAction {
    private let item: ProtectedItem
    private let items: Items

    init(_ item: ProtectedItem, items: Items) {
        self.item = item
        self.items = items
    }

    var emptyResult: Variant { .string("") }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        do throws(AuthenticationError) {
            let authorization = try await items.authenticator.authorize(
                .delete,
                item,
                for: client,
                asking: conversation
            )
            return await delete(authorization, by: client)
        } catch {
            items.logger.debug("An authentication failed", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }

    private func delete(_ authorization: ItemAuthorization, by client: Client) async -> PromptOutcome {
        do throws(BusError) {
            try await items.delete(item.id, in: item.collection, by: client, authorizedBy: authorization)
            return .done(emptyResult)
        } catch {
            items.logger.info("An item was not deleted", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }
}
