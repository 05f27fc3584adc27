package import DBus

extension SecretServiceProxy {
    /// Shows a prompt; the outcome comes later.
    package func show(_ prompt: ObjectPath, window: String = "") async throws(BusError) {
        try await call(prompt, Interface.prompt, "Prompt", window)
    }

    package func dismiss(_ prompt: ObjectPath) async throws(BusError) {
        try await call(prompt, Interface.prompt, "Dismiss")
    }

    /// Waits for the `Completed` of a prompt, which may have come already.
    package nonisolated func completion(of prompt: ObjectPath) async throws -> PromptOutcome {
        let signal = try await signals.first("Completed of \(prompt)") { signal in
            signal.member == "Completed" && signal.path == prompt.rawValue
        }
        let (isDismissed, result) = try signal.message.read(Bool.self, Variant.self)
        return PromptOutcome(isDismissed: isDismissed, result: result)
    }

    /// Shows a prompt, and waits for its outcome.
    package func complete(_ prompt: ObjectPath, window: String = "") async throws -> PromptOutcome {
        try await show(prompt, window: window)
        return try await completion(of: prompt)
    }
}
