import Dispatch
import SecretServiceClient

/// Threads for replies, and for what blocks: neither the main thread nor the event loop's, which replies may wait for.
enum Background {
    private static let queue = DispatchQueue(label: "org.keychaind.LocalAuthentication", attributes: .concurrent)

    /// Runs something some time soon, with the keychain that the caller uses.
    static func run(_ operation: @escaping @Sendable () -> Void) {
        let bus = KeychainBus.current
        queue.async { KeychainBus.$current.withValue(bus, operation: operation) }
    }

    /// Waits for something that blocks, without blocking a thread of Swift's pool.
    static func value<Value: Sendable>(of operation: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: operation()) }
        }
    }
}
