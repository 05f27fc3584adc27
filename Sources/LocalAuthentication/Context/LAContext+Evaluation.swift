import Dispatch
import Foundation
import SecretServiceClient
import Security

extension LAContext {
    /// The reason why a policy cannot be satisfied now; nil if it can.
    func obstacle(to policy: LAPolicy) -> NSError? {
        guard let name = policy.name else {
            return LAError.object(.companionNotAvailable, "there are no paired devices")
        }
        return obstacle(to: name, policy)
    }

    /// The reason why an access control expression or policy name cannot be satisfied now; nil if it can.
    ///
    /// - Parameter policy: the closest policy, which selects error codes.
    func obstacle(to expression: String, _ policy: LAPolicy) -> NSError? {
        var biometryType = LABiometryType.none
        defer { state.recordCheck(found: biometryType) }
        do throws(SecretServiceError) {
            try state.check()
            let found = try SharedClient.shared.wait { (client) throws(SecretServiceError) in
                try await client.authenticationAvailability(expression)
            }
            guard let found else { throw .noAuthentication }
            biometryType = found.hasFingerprintReader ? .touchID : .none
            guard let name = found.obstacle else { return nil }
            throw SecretServiceError(.accessDenied, "authentication is not possible now", errorName: name)
        } catch {
            return LAError.object(error, policy)
        }
    }

    var currentDomainState: LADomainState {
        let hash = try? SharedClient.shared.wait { (client) throws(SecretServiceError) in
            try await client.authenticationDomainState()
        }
        let isThere = hash?.isEmpty == false
        return LADomainState(
            biometry: LADomainStateBiometry(
                biometryType: isThere ? .touchID : .none,
                stateHash: isThere ? hash.map { Data($0) } : nil
            )
        )
    }

    /// Evaluates an access control expression or policy name, and calls `reply` at the end.
    ///
    /// - Parameter policy: the closest policy, which selects error codes.
    func evaluate(
        _ expression: String,
        _ policy: LAPolicy,
        _ reason: String,
        _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let snapshot = snapshot
        guard !reason.isEmpty || snapshot.hasReason else {
            let error = LAError.object(.notInteractive, "a reason that is not empty must be provided")
            return Background.run { reply(false, error) }
        }
        SharedClient.shared.start { (client) throws(SecretServiceError) in
            guard let context = try await snapshot.context(on: client, reason: reason) else { throw .noAuthentication }
            let shownReason = ProviderContext.Settings.cut(reason)
            try await context.evaluate(expression, reason: shownReason, timeout: KeychainBus.promptTimeout)
        } completion: { [state] outcome in
            state.recordEvaluation()
            switch outcome {
            case .success: Background.run { reply(true, nil) }
            case .failure(let error):
                let object = LAError.object(error, policy)
                Background.run { reply(false, object) }
            }
        }
    }

    static func reply(to operation: (@escaping @Sendable (Bool, (any Error)?) -> Void) -> Void) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            operation { isProved, error in
                if isProved {
                    continuation.resume(returning: true)
                } else {
                    continuation.resume(throwing: error ?? LAError.object(.authenticationFailed, "no reason was given"))
                }
            }
        }
    }
}

/// Threads for replies and blocking calls: replies may wait for the main thread and the event-loop thread.
enum Background {
    private static let queue = DispatchQueue(label: "org.keychaind.LocalAuthentication", attributes: .concurrent)

    /// Runs an operation asynchronously on the caller's bus.
    static func run(_ operation: @escaping @Sendable () -> Void) {
        let bus = KeychainBus.current
        queue.async { KeychainBus.$current.withValue(bus, operation: operation) }
    }

    /// Waits for a blocking operation without blocking a thread of Swift's pool.
    static func value<Value: Sendable>(of operation: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: operation()) }
        }
    }
}
