import KeychaindAuthentication
import KeychaindDesktop
import KeychaindTestSupport

/// A connection for which a test asks.
final class TestRequester: Requester {
    let name: String
    private let insight: Caller.Insight

    /// - Parameter insight: what an inspection of its process would find.
    init(_ name: String, insight: Caller.Insight = .opaque(reason: "it is a test")) {
        self.name = name
        self.insight = insight
    }

    func caller() async -> Caller {
        Caller(uniqueName: name, insight: insight)
    }

    var knownCaller: Caller? { nil }
}
