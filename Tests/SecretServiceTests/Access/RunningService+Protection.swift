import KeychaindDBus
import KeychaindTestSupport

/// The reserved attributes as clients write them.
enum Reserved {
    static let accessControl = "keychain:access-control"
    static let accessible = "keychain:accessible"
}

extension RunningService {
    /// Runs a test with a prompter that gives these answers; the last one repeats.
    static func withPrompter(
        _ responses: [PromptResponse] = [.answer("password")],
        _ body: (RunningService, FakePrompter) async throws -> Void
    ) async throws {
        try await withService { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await body(service, prompter)
            await prompter.crash()
        }
    }

    /// Unlocks objects for a client with the current prompter.
    func unlock(_ objects: [ObjectPath], as client: SecretServiceProxy) async throws -> PromptOutcome {
        let (unlocked, prompt) = try await client.unlock(objects)
        guard prompt != .root else { return PromptOutcome(isDismissed: false, result: .objectPaths(unlocked)) }
        return try await client.complete(prompt)
    }
}

extension SecretServiceProxy {
    /// Creates an item with an access control.
    func createProtectedItem(
        _ label: String = "Bank",
        _ attributes: [String: String] = ["service": "bank"],
        _ accessControl: String = "userPresence",
        secret: String = "secret",
        session: ObjectPath
    ) async throws(BusError) -> ObjectPath {
        try await createItem(
            label,
            attributes.merging([Reserved.accessControl: accessControl]) { $1 },
            secret: secret,
            session: session
        )
    }

    /// The signals to this client about an item's lock, in order.
    nonisolated func lockNotices(of item: ObjectPath) -> [Bool] {
        signals.all.filter { $0.path == item.rawValue }.compactMap { signal in
            guard case .boolean(let isLocked) = signal.changedProperties?.values["Locked"] else { return nil }
            return isLocked
        }
    }
}
