import LocalAuthentication

extension LAContext {
    /// Why a policy cannot be evaluated; nil if it can.
    func obstacle(to policy: LAPolicy) -> LAError.Code? {
        var error: NSError?
        let isPossible = canEvaluatePolicy(policy, error: &error)
        return isPossible ? nil : (error as? LAError)?.code
    }

    /// What an evaluation ends with; nil if it was proved.
    func evaluation(
        _ policy: LAPolicy = .deviceOwnerAuthentication,
        reason: String = "to see it"
    ) async -> LAError.Code? {
        do {
            return try await evaluatePolicy(policy, localizedReason: reason) ? nil : .invalidDimensions
        } catch let error as LAError {
            return error.code
        } catch {
            return .invalidDimensions
        }
    }
}
