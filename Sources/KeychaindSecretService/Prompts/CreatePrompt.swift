import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Creates a collection with a password that the person chooses (#53); the result is its path.
@BusActor
final class CreatePrompt: PromptAction {
    /// Nil if the caller gave none.
    private let label: String?
    private let alias: String
    private let collections: Collections
    private let unlocker: Unlocker

    init(label: String?, alias: String, unlocker: Unlocker) {
        self.label = label
        self.alias = alias
        collections = unlocker.collections
        self.unlocker = unlocker
    }

    var emptyResult: Variant { .objectPath(.root) }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        // While `login` has no password, the alias `default` means `login`.
        if let vacant = collections.vacant(forAlias: alias) {
            guard await unlocker.unlock(vacant, asking: conversation, for: client) else {
                return .dismissed(emptyResult)
            }
            return await done(vacant)
        }
        let label = label ?? "Unnamed"
        let caller = await client.caller()
        // The prompt may have been dismissed after the answer.
        guard let password = await conversation.askNewPassword(conversation.newPasswordRequest(of: label, for: caller)),
            !conversation.isEnded
        else {
            return .dismissed(emptyResult)
        }
        guard let collection = await collections.create(label: label, alias: alias, password: password) else {
            return .dismissed(emptyResult)
        }
        return await done(collection)
    }

    /// Sets the label, also of a collection that another caller created meanwhile (#55).
    private func done(_ collection: Collection) async -> PromptOutcome {
        if let label {
            await relabel(collection, label)
        }
        return .done(.objectPath(.collection(collection.name)))
    }

    private func relabel(_ collection: Collection, _ label: String) async {
        guard collection.label != label else { return }
        do throws(BusError) {
            try await collections.setLabel(of: collection, to: label)
        } catch {
            unlocker.logger.warning("A keychain could not be renamed", metadata: ["reason": "\(error)"])
        }
    }
}
