import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// Limits a sandboxed program to its own items and to some that a person gives to it; the result is whether it is.
@BusActor
final class ConfirmSandboxPrompt: PromptAction {
    private let program: String
    private let items: [(collection: Collection, id: ItemID)]
    private let provider: Provider

    init(_ program: String, _ items: [(Collection, ItemID)], provider: Provider) {
        self.program = program
        self.items = items.map { (collection: $0.0, id: $0.1) }
        self.provider = provider
    }

    var emptyResult: Variant { .boolean(false) }

    var keptBytes: Int { items.count * MemoryLayout<(Collection, ItemID)>.stride }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        for collection in provider.vault.collections
        where collection.isLocked && items.contains(where: { $0.collection === collection }) {
            guard await provider.unlocker.unlock(collection, asking: conversation, for: client) else {
                return .dismissed(emptyResult)
            }
        }
        let labels = items.compactMap { $0.collection.item($0.id)?.label }
        let caller = await client.caller()
        guard await conversation.confirmSandbox(program, items: labels, for: caller), !conversation.isEnded else {
            return .dismissed(emptyResult)
        }
        for (collection, id) in items where collection.item(id)?.attributes[Attributes.program] != program {
            do throws(VaultError) {
                try await collection.stamp(id, for: program)
                provider.changes.itemChanged(id, in: collection, .attributes)
            } catch {
                provider.logger.error("An item could not be given to a sandbox", metadata: ["reason": "\(error)"])
                return .dismissed(emptyResult)
            }
        }
        await provider.limit(program)
        return .done(.boolean(true))
    }
}

extension Provider {
    /// Limits a sandboxed program to its own items, its open connections too.
    func limit(_ program: String) async {
        await sandboxes.set(.limited, for: program)
        notices.programs.sandboxIsLimited(program)
        connections.setView(await sandboxes.currentView(of: program), of: program)
        for client in clients.all {
            let wasConfined = client.view.isConfined
            client.viewChanged()
            // What it was granted before may not be its own.
            if !wasConfined, client.view.isConfined {
                client.endPermissions { [vault] item in
                    vault.collection(named: item.collection).map { !client.sees(item.id, in: $0) } ?? true
                }
            }
        }
    }
}
