import KeychaindDBus

extension Connection {
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
