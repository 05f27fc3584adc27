import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct GetCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write the secret of an item to standard output.",
        discussion: """
            Nothing is added to the secret, except a newline on a terminal. A locked or protected item asks you first, \
            in a dialog or on this terminal.
            """
    )

    @OptionGroup var items: ItemArguments
    @OptionGroup var prompt: PromptArguments
    @OptionGroup var format: JSONArguments

    func run(_ provider: ProviderAccess) async throws {
        let finder = ItemFinder(client: provider.client)
        var found = try await finder.one(try items.query, prompt.prompting)
        let secret = try await provider.secret(of: found, prompt.prompting)
        guard format.json else { return try write(secret, to: provider.output) }
        if found.isHidden || found.keychain.isEmpty {
            let keychain = try await finder.keychainLabels()[found.collectionPath] ?? ""
            guard let record = try await finder.read([found.item]).first else {
                throw CommandFailure(.notFound, "the item was deleted meanwhile")
            }
            found = ListedItem(item: found.item, properties: record.properties, keychain: keychain)
        }
        try provider.output.text("{\(found.json), \"content-type\": \(JSON.string(secret.contentType)), ")
        try provider.output.json(secret, isMember: true)
        try provider.output.text("}\n")
    }

    private func write(_ secret: borrowing Secret, to output: Output) throws(CommandFailure) {
        try secret.withUnsafeBytes { (bytes) throws(CommandFailure) in
            guard case .terminal = Screen.current else { return try output.secret(bytes) }
            guard UTF8Check.isHarmless(bytes) else {
                throw CommandFailure(
                    .refused,
                    """
                    the secret could act on the terminal: it has control characters or is not text; \
                    write it to a file or a pipe
                    """
                )
            }
            try output.secret(bytes)
            if bytes.last != UInt8(ascii: "\n") { try output.text("\n") }
        }
    }
}

extension ProviderAccess {
    /// Reads a secret; unlocks the item first if necessary.
    func secret(of found: ListedItem, _ prompting: SecretPrompting) async throws -> Secret {
        do throws(SecretServiceError) {
            return try await found.item.secret(prompting: .never)
        } catch {
            guard error.code == .locked, prompting.isAllowed else { throw error }
        }
        try await unlock([found.item], prompting)
        return try await found.item.secret(prompting: .never)
    }
}
