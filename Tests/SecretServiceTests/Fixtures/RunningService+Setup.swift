import DBus
import TestSupport

extension RunningService {
    /// Creates a collection through a prompt, whose password is `password`.
    func createCollection(_ label: String, alias: String = "") async throws -> ObjectPath {
        let prompter = try await FakePrompter(on: bus, [.answer("password")])
        let prompt = try await client.createCollection(
            SecretServiceProxy.collectionProperties(label: label),
            alias: alias
        ).prompt
        let outcome = try await client.complete(prompt)
        await prompter.crash()
        guard let path = outcome.path, path != .root else { throw BusError(.failed, "no collection was made") }
        return path
    }

    /// Unlocks objects through a prompt.
    func unlock(_ objects: [ObjectPath], password: String = "password") async throws -> PromptOutcome {
        let prompter = try await FakePrompter(on: bus, [.answer(password), .cancel])
        let outcome = try await client.complete(try await client.unlock(objects).prompt)
        await prompter.crash()
        return outcome
    }

    /// Starts the daemon again without a password, so that nothing was unlocked since its start.
    func restartLocked() async throws {
        try await daemon.restart(KeychainDaemon.Options(password: nil))
    }
}

/// The service's interfaces, in short.
typealias Interface = SecretServiceProxy.Interface
