import KeychaindDBus

extension Connection {
    /// The trust in the owner of a prompter's name; a program that the bus would start is no compositor.
    func expectedTrust(inPrompter busName: String, by inspector: (any PrompterInspector)?) async -> PrompterTrust? {
        guard await hasService(busName) else { return nil }
        guard let inspector else { return .trusted }
        guard let owner = try? await service(busName) else {
            return .passwordsOnly(reason: SessionPrompterInspector.notTheCompositor)
        }
        return await inspector.trust(inOwner: owner, of: busName)
    }

    /// The unique name of a prompter, which alone may call back; starts the prompter if it is not running.
    ///
    /// Throws ``PromptError/Code/unavailable`` if there is none, or only one that may not serve this process.
    func findPrompter(_ busName: String, startingWithin timeout: Duration) async throws(PromptError) -> String {
        do throws(BusError) {
            if let owner = try await service(busName) { return owner }
            try await startService(busName, timeout: timeout)
            if let owner = try await service(busName) { return owner }
        } catch {
            throw PromptError(.unavailable, reason: "\(busName) cannot be reached: \(error)")
        }
        throw PromptError(.unavailable, reason: "\(busName) exited right after it was started")
    }
}
