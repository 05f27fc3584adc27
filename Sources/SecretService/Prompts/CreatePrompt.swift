import Authentication
import DBus
import Desktop
import Gcrypt
import KeychainModel
import Vault

/// Creates a collection under a password that the person chooses; the result is its path (#53).
@BusActor
final class CreatePrompt: PromptAction {
    /// Nil if the caller gave none.
    private let label: String?
    private let alias: String
    private let provider: Provider

    init(label: String?, alias: String, provider: Provider) {
        self.label = label
        self.alias = alias
        self.provider = provider
    }

    var emptyResult: Variant { .objectPath(.root) }

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        // `login` waits for its first password under the alias `default`; that is the collection which is meant then.
        if let vacant = provider.vacantCollection(forAlias: alias) {
            guard await provider.unlock(vacant, asking: conversation) else { return .dismissed(emptyResult) }
            return await done(vacant)
        }
        let label = label ?? "Unnamed"
        let caller = await provider.callers.caller(conversation.caller)
        // It may have been dismissed after the answer; then nothing is made.
        guard let password = await conversation.askNewPassword(of: label, for: caller), !conversation.isEnded else {
            return .dismissed(emptyResult)
        }
        guard let collection = await provider.create(label: label, alias: alias, password: password) else {
            return .dismissed(emptyResult)
        }
        return await done(collection)
    }

    /// Gives the label also to what another caller made meanwhile (#55).
    private func done(_ collection: Collection) async -> PromptOutcome {
        if let label {
            await provider.relabel(collection, label)
        }
        return .done(.objectPath(.collection(collection.name)))
    }
}
