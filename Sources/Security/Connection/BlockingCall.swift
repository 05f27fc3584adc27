import SecretServiceClient

/// Lets functions that are not `async` wait for what is.
enum BlockingCall {
    /// Runs an operation with the process's client, and blocks until it has ended.
    static func run<Value: Sendable>(
        _ operation: @escaping @Sendable (SecretClient) async throws(SecretServiceError) -> Value
    ) throws(StatusError) -> Value {
        do throws(SecretServiceError) {
            return try SharedClient.shared.wait(for: operation)
        } catch {
            throw StatusError(error)
        }
    }
}
