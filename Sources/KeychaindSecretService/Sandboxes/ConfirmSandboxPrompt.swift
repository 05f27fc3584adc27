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

    init(_ program: String, _ items: [(collection: Collection, id: ItemID)], provider: Provider) {
        self.program = program
        self.items = items
        self.provider = provider
    }

    var emptyResult: Variant { .boolean(false) }

    var keptBytes: Int { items.count * MemoryLayout<(Collection, ItemID)>.stride }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        for collection in await collections() where collection.isLocked {
            guard await provider.unlocker.unlock(collection, asking: conversation, for: client) else {
                return .dismissed(emptyResult)
            }
        }
        let labels = await labels()
        let caller = await client.caller()
        guard await conversation.confirmSandbox(program, items: labels, for: caller), !conversation.isEnded else {
            return .dismissed(emptyResult)
        }
        do throws(VaultError) {
            try await stampItems()
        } catch {
            provider.logger.error("An item could not be given to a sandbox", metadata: ["reason": "\(error)"])
            return .dismissed(emptyResult)
        }
        await provider.limit(program)
        return .done(.boolean(true))
    }

    // There may be thousands of items, and others' calls are handled in between.

    /// The collections of the items.
    private func collections() async -> [Collection] {
        await provider.largeAnswers.takeSlices { slice in
            var collections: [Collection] = []
            for (collection, _) in items {
                await slice.yieldIfOver()
                if !collections.contains(where: { $0 === collection }) { collections.append(collection) }
            }
            return provider.vault.collections.filter { collection in collections.contains { $0 === collection } }
        }
    }

    private func labels() async -> [String] {
        await provider.largeAnswers.takeSlices { slice in
            var labels: [String] = []
            for (collection, id) in items {
                await slice.yieldIfOver()
                if let label = collection.item(id)?.label { labels.append(label) }
            }
            return labels
        }
    }

    private func stampItems() async throws(VaultError) {
        try await provider.largeAnswers.takeSlices { (slice) async throws(VaultError) in
            for (collection, id) in items {
                await slice.yieldIfOver()
                guard collection.item(id)?.attributes[Attributes.program] != program else { continue }
                var doubt: VaultError?
                do throws(VaultError) {
                    try await collection.stamp(id, for: program)
                } catch {
                    guard error.outcome != nil else { throw error }
                    doubt = error
                }
                provider.changes.itemChanged(id, in: collection, .attributes)
                if let doubt { throw doubt }
            }
        }
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
