import Foundation
import KeychaindTestSupport
import SecretServiceClient

/// A provider of its own, and `keychainctl` beside it.
struct Controlled: Sendable {
    let provider: RunningProvider
    let client: SecretClient
    let login: SecretCollection

    init(_ provider: RunningProvider) async throws {
        self.provider = provider
        client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
        guard let login = try await client.collection(alias: "default") else { throw SecretServiceError(.locked, "") }
        self.login = login
    }

    static func with(
        _ kind: TestedProvider = .keychaind,
        _ body: @Sendable (Controlled) async throws -> Void
    ) async throws {
        try await kind.withProvider { provider in try await body(Controlled(provider)) }
    }

    func run(_ arguments: String..., input: String = "") async throws -> CommandResult {
        try await run(arguments, input: Array(input.utf8))
    }

    func run(_ arguments: [String], input: [UInt8]) async throws -> CommandResult {
        try await Command.run(
            ImportHome.executable,
            arguments,
            environment: provider.bus.environment.merging(try await ProgramClock.environment) { $1 },
            input: input
        )
    }

    /// Runs a command while a person answers dialogs.
    func run(_ arguments: String..., answering answers: PromptResponse...) async throws -> CommandResult {
        let prompter = try await FakePrompter(on: provider.bus, answers)
        let result = try await run(arguments, input: [])
        try await prompter.end()
        return result
    }

    @discardableResult
    func add(
        _ label: String,
        _ attributes: [String: String],
        _ secret: String = "secret",
        to collection: SecretCollection? = nil
    ) async throws -> SecretItem {
        let target = collection ?? login
        return try await target.createItem(label: label, attributes: attributes, secret: try Secret(secret))
    }

    /// Creates a keychain with the password “second”.
    func addKeychain(_ label: String) async throws -> SecretCollection {
        let prompter = try await provider.answerPrompts(.answer("second"))
        let collection = try await client.createCollection(label: label)
        try await prompter.end()
        return collection
    }

    func text(of item: SecretItem) async throws -> String? {
        try await item.secret(prompting: .never).text
    }

    func text(_ attributes: [String: String]) async throws -> String? {
        try await client.search(attributes).all.first?.secret(prompting: .never).text
    }
}
