import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct DeleteCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete items.",
        discussion: "Protected items ask you first. With keychaind, “history” finds what was deleted."
    )

    @OptionGroup var items: ItemArguments

    @Flag(help: "Delete all items that are found.")
    var all = false

    @OptionGroup var prompt: PromptArguments

    func run(_ provider: ProviderAccess) async throws {
        let finder = ItemFinder(client: provider.client)
        var found = try await finder.some(try items.query, all: all, prompt.prompting)
        try await provider.unlockKeychains(of: found, prompt.prompting)
        if found.contains(where: \.isHidden) {
            found = try await finder.read(found.map(\.item)).map { record in
                ListedItem(item: record.item, properties: record.properties, keychain: "")
            }
        }
        let context = try await provider.authorize(.delete, found, prompt.prompting)
        for (done, item) in found.enumerated() {
            do {
                try Task.checkCancellation()
                try await delete(item.item)
            } catch {
                let words = Text(
                    done,
                    one: "\(done) of \(found.count) items is deleted",
                    other: "\(done) of \(found.count) items are deleted"
                )
                throw HalfDone.failure(error, after: done, words, at: item.properties.label)
            }
        }
        withExtendedLifetime(context) {}
        if found.count > 1 {
            Terminal.tell(
                Text(
                    found.count,
                    one: "\(found.count) item is deleted.",
                    other: "\(found.count) items are deleted."
                )
            )
        }
    }

    private func delete(_ item: SecretItem) async throws(SecretServiceError) {
        do throws(SecretServiceError) {
            try await item.delete(prompting: prompt.prompting)
        } catch {
            // Somebody else was faster.
            guard all, error.code == .noSuchObject else { throw error }
        }
    }
}
