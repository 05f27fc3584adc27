import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Stores an item after asking a person (#98); the result is its path.
///
/// Needed to replace a protected item, and for an item with an application password.
@BusActor
final class CreateItemPrompt: PromptAction {
    /// Nil once it is stored.
    private var new: CreationRequest?
    private let label: String
    private let attributes: Attributes
    private let key: UniqueKey?
    private let needsPassword: Bool
    private let replaced: ProtectedItem?
    private let collection: Collection
    private let items: Items

    /// - Parameters:
    ///   - key: the values that no other item may have.
    ///   - replaced: the protected item to replace, if any; replacing it needs an authentication.
    ///   - needsPassword: whether the person chooses an application password for the item.
    init(
        _ new: consuming CreationRequest,
        ifUnique key: UniqueKey?,
        replacing replaced: ProtectedItem?,
        withPassword needsPassword: Bool,
        in collection: Collection,
        items: Items
    ) {
        label = new.description.label
        self.attributes = new.description.attributes
        let texts = new.secret.contentType.utf8.count + new.description.label.utf8.count
        let attributes = new.description.attributes.packed.count + (key?.byteCount ?? 0)
        keptBytes = new.secret.bytes.count + texts + attributes
        self.new = consume new
        self.key = key
        self.needsPassword = needsPassword
        self.replaced = replaced
        self.collection = collection
        self.items = items
    }

    var emptyResult: Variant { .objectPath(.root) }

    let keptBytes: Int

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        var authorization: ItemAuthorization?
        if let replaced {
            do throws(AuthenticationError) {
                let action = action(on: replaced)
                authorization = try await items.authenticator.authorize(
                    action,
                    replaced,
                    for: client,
                    asking: conversation
                )
            } catch {
                items.logger.debug("An authentication failed", metadata: ["reason": "\(error)"])
                return .dismissed(emptyResult)
            }
        }
        var password: SecureBytes?
        if needsPassword {
            let request = conversation.applicationPasswordRequest(of: label, for: await client.caller())
            guard let chosen = await conversation.askNewPassword(request) else {
                return .dismissed(emptyResult)
            }
            password = consume chosen
        }
        // Taken before the next suspension, so that nothing is stored twice and a dismissed prompt keeps no secret.
        guard !conversation.isEnded, let new = new.take() else { return .dismissed(emptyResult) }
        do throws(BusError) {
            let path = try await items.create(
                new,
                ifUnique: key,
                in: collection,
                for: client,
                applicationPassword: password,
                authorizedBy: authorization
            )
            return .done(.objectPath(path))
        } catch {
            items.logger.info("An item was not stored", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
    }

    /// The action named in the dialog, which mentions a change of the protection.
    private func action(on replaced: ProtectedItem) -> ItemAction {
        guard let old = replaced.collection.item(replaced.id)?.attributes,
            let stored = try? Items.attributesToStore(attributes, replacing: replaced.id, in: collection),
            (try? Items.checkProtection(in: stored)) == (try? Items.checkProtection(in: old))
        else { return .replaceWithProtection }
        return .replace
    }
}
