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

    /// An item that the dialog names.
    private struct NamedItem {
        let collection: Collection
        let id: ItemID
        let label: String
    }

    /// The most attempts to give an item that keeps changing.
    private static let attempts = 3

    init(_ program: String, _ items: [(collection: Collection, id: ItemID)], provider: Provider) {
        self.program = program
        self.items = items
        self.provider = provider
    }

    var emptyResult: Variant { .boolean(false) }

    var keptBytes: Int { items.count * MemoryLayout<(Collection, ItemID)>.stride }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        for collection in collections where collection.isLocked {
            guard await provider.unlocker.unlock(collection, asking: conversation, for: client) else {
                return .dismissed(emptyResult)
            }
        }
        let caller = await client.caller()
        let named = namedItems
        guard await conversation.confirmSandbox(program, items: named.map(\.label), for: caller), !conversation.isEnded
        else { return .dismissed(emptyResult) }
        do throws(VaultError) {
            for item in named { try await stamp(item) }
        } catch {
            provider.logger.error("An item could not be given to a sandbox", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
        await provider.limit(program)
        return .done(.boolean(true))
    }

    /// The collections of the items.
    private var collections: [Collection] {
        provider.vault.collections.filter { collection in items.contains { $0.collection === collection } }
    }

    private var namedItems: [NamedItem] {
        items.compactMap { collection, id in
            guard let item = collection.item(id), isGivable(item) else { return nil }
            return NamedItem(collection: collection, id: id, label: item.label)
        }
    }

    /// Gives the program what the dialog has named, but no item whose name or owner has changed since.
    private func stamp(_ named: NamedItem) async throws(VaultError) {
        let (collection, id) = (named.collection, named.id)
        for attempt in 1...ConfirmSandboxPrompt.attempts {
            guard let item = collection.item(id), item.label == named.label, isGivable(item) else {
                return provider.logger.notice(
                    "An item that has changed since was not given to a sandbox",
                    metadata: ["item": "\(collection.name)/\(id)", "program": "\(program)"]
                )
            }
            guard item.attributes[Attributes.program] == nil else { return }
            do throws(VaultError) {
                try await collection.stamp(id, for: program)
            } catch {
                // It has changed while the stamp waited, perhaps its name.
                if error.code == .busy, attempt < ConfirmSandboxPrompt.attempts { continue }
                throw error
            }
            return provider.changes.itemChanged(id, in: collection, .attributes)
        }
    }

    /// Whether an item belongs to no program, or to this one already.
    private func isGivable(_ item: Item) -> Bool {
        item.attributes[Attributes.program].map { $0 == program } ?? true
    }
}

extension Provider {
    /// Limits a sandboxed program to its own items, its open connections too, and ends what they have asked for.
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
                // Its prompts may be about items of others. One of its own that limits it still returns its result.
                client.dismissAll(.bySystem(reason: "a person has limited the program to its own items"))
            }
        }
    }
}
