import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A service shared by tests that do not lock, create or delete collections, or read whole lists.
///
/// Each test uses its own client and attributes.
enum SharedService {
    private static let running = Task { try await RunningService() }

    static func get() async throws -> RunningService {
        try await running.value
    }

    /// A new client with a plain session.
    static func client() async throws -> (SecretServiceProxy, ObjectPath) {
        let client = try await get().makeClient()
        return (client, try await client.openPlainSession())
    }
}

extension RunningService {
    /// Creates a collection with the password `password` through a prompt.
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

    /// Restarts the daemon without a password, so that nothing is unlocked.
    func restartLocked() async throws {
        try await daemon.restart(KeychainDaemon.Options(password: nil))
    }
}

/// Short names of the interfaces.
typealias Interface = SecretServiceProxy.Interface

/// Starts the event loop before a test on ``BusActor``, which could not begin otherwise.
struct LoopTrait: SuiteTrait, TestTrait {
    var isRecursive: Bool { true }

    func prepare(for test: Test) async throws {
        EventLoop.startThread()
    }
}

extension Trait where Self == LoopTrait {
    static var onLoop: LoopTrait { LoopTrait() }
}
