import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindVault
import Logging

/// Takes what is intact out of a damaged keychain into a new file, once a person has agreed; the result is the path.
///
/// It removes the evidence of a missing item from the keychain, so no program may do that alone.
@BusActor
final class SalvagePrompt: PromptAction {
    private let collection: Collection
    private let collections: Collections
    private let unlocker: Unlocker

    init(_ collection: Collection, in collections: Collections, unlocker: Unlocker) {
        self.collection = collection
        self.collections = collections
        self.unlocker = unlocker
    }

    var emptyResult: Variant { .objectPath(.root) }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        guard await unlocker.unlock(collection, asking: conversation, for: client) else {
            return .dismissed(emptyResult)
        }
        let caller = await client.caller()
        guard await conversation.confirmSalvage(of: collection.label, for: caller), !conversation.isEnded else {
            return .dismissed(emptyResult)
        }
        do throws(VaultError) {
            try await collections.salvage(collection, by: client)
            return .done(.objectPath(.collection(collection.name)))
        } catch {
            unlocker.logger.error(
                "A damaged keychain could not be salvaged",
                metadata: ["keychain": "\(collection.name)", "reason": "\(error)"]
            )
            return .dismissed(emptyResult)
        }
    }
}
