import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// The fault of a keychain's file, for messages about something else.
struct KeychainProblem: Sendable {
    let label: String
    let problem: String

    /// Those of all keychains; none from a provider that is not keychaind, or that does not answer.
    static func all(_ client: SecretClient) async -> [KeychainProblem] {
        var problems: [KeychainProblem] = []
        for collection in (try? await client.collections()) ?? [] {
            guard let state = try? await collection.keychaindState() else { return problems }
            guard !state.problem.isEmpty, let label = try? await collection.label() else { continue }
            problems.append(KeychainProblem(label: label, problem: state.problem))
        }
        return problems
    }

    var line: Text { Text("the keychain “\(label.visible)” has a problem: \(problem.visible)") }
}
