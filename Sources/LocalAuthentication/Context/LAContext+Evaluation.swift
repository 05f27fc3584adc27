import Foundation
import SecretServiceClient
import Security

extension LAContext {
    /// What stands in the way of proving something now, if anything.
    ///
    /// - Parameters:
    ///   - expression: what would have to be proved, as the provider takes it.
    ///   - policy: the policy that is nearest to it, for errors.
    func obstacle(to expression: String, _ policy: LAPolicy) -> NSError? {
        var biometryType = LABiometryType.none
        defer { state.look(biometryType) }
        do throws(SecretServiceError) {
            try state.check()
            let found = try SharedClient.shared.wait { (client) throws(SecretServiceError) in
                try await client.authenticationAvailability(expression)
            }
            guard let found else { throw .noAuthentication }
            biometryType = found.hasFingerprintReader ? .touchID : .none
            guard let name = found.obstacle else { return nil }
            throw SecretServiceError(.accessDenied, "it is not possible now", errorName: name)
        } catch {
            return LAError.object(error, policy)
        }
    }

    /// What authentication goes by now.
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

    /// Starts an evaluation, and replies when it has ended.
    ///
    /// - Parameters:
    ///   - expression: what has to be proved, as the provider takes it.
    ///   - policy: the policy that is nearest to it, for errors.
    func evaluate(
        _ expression: String,
        _ policy: LAPolicy,
        _ reason: String,
        _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let snapshot = snapshot
        SharedClient.shared.start { (client) throws(SecretServiceError) in
            guard let context = try await snapshot.context(on: client, reason: reason) else { throw .noAuthentication }
            let words = AuthenticationContext.Settings.cut(reason)
            try await context.evaluate(expression, reason: words, timeout: KeychainBus.promptTimeout)
        } completion: { [state] outcome in
            state.markEvaluated()
            switch outcome {
            case .success: Background.run { reply(true, nil) }
            case .failure(let error):
                let object = LAError.object(error, policy)
                Background.run { reply(false, object) }
            }
        }
    }

    /// Waits for a reply.
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
