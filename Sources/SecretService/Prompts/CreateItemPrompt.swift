import Authentication
import DBus
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Stores an item that a person has to be asked about first; the result is its path (#98).
///
/// That is one which takes the place of a protected item, or which is to have a password of its own.
@BusActor
final class CreateItemPrompt: PromptAction {
    /// What is to be stored; nil once it is.
    private var new: NewItem?
    private let label: String
    private let needsPassword: Bool
    private let replaced: ProtectedItem?
    private let collection: Collection
    private let caller: String
    private let provider: Provider

    /// - Parameters:
    ///   - replaced: the protected item whose place it takes, if so, which is authenticated for first.
    ///   - needsPassword: whether the person has to choose a password for it.
    init(
        _ new: consuming NewItem,
        replacing replaced: ProtectedItem?,
        withPassword needsPassword: Bool,
        in collection: Collection,
        for caller: String,
        provider: Provider
    ) {
        label = new.description.label
        let texts = new.secret.contentType.utf8.count + new.description.label.utf8.count
        keptBytes = new.secret.bytes.count + texts + new.description.attributes.packed.count
        self.new = consume new
        self.needsPassword = needsPassword
        self.replaced = replaced
        self.collection = collection
        self.caller = caller
        self.provider = provider
    }

    var emptyResult: Variant { .objectPath(.root) }

    let keptBytes: Int

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        if let replaced {
            await provider.authenticate(to: .replace, replaced, for: caller, asking: conversation)
        }
        var password: SecureBytes?
        if needsPassword {
            let caller = await provider.callers.caller(conversation.caller)
            guard let chosen = await conversation.askApplicationPassword(of: label, for: caller) else {
                return .dismissed(emptyResult)
            }
            password = consume chosen
        }
        // Taken out before anything is waited for: a second run is impossible, and a dismissed prompt keeps no secret.
        guard !conversation.isEnded, let new = new.take() else { return .dismissed(emptyResult) }
        do throws(BusError) {
            let path = try await provider.create(
                new,
                in: collection,
                for: caller,
                applicationPassword: password
            )
            return .done(.objectPath(path))
        } catch {
            provider.logger.info("An item was not stored", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }
}
