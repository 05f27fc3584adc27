import LocalAuthentication

extension LAContext {
    /// The error of a check; nil if the policy can be evaluated.
    func obstacle(to policy: LAPolicy) -> LAError.Code? {
        var error: NSError?
        let isPossible = canEvaluatePolicy(policy, error: &error)
        return isPossible ? nil : (error as? LAError)?.code
    }

    /// The error of an evaluation; nil on success.
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

/// A context that reads its reason from the keychain.
final class CuriousContext: LAContext, @unchecked Sendable {
    // Sendable like its superclass: all properties are constants.
    private let query: CFDictionary

    init(_ query: CFDictionary) {
        self.query = query
        super.init()
    }

    override var localizedReason: String {
        get {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query, &result)
            return (result as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "status \(status)"
        }
        set {}
    }
}
