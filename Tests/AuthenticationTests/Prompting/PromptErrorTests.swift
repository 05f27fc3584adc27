import KeychaindAuthentication
import Testing

struct PromptErrorTests {
    private static let codes: [PromptError.Code] = [
        .unavailable, .crashed, .timedOut, .interrupted, .failed, .tooMany, .notTrusted,
    ]

    @Test
    func equality_isOfCodesOnly() {
        for (index, code) in PromptErrorTests.codes.enumerated() {
            for (otherIndex, other) in PromptErrorTests.codes.enumerated() {
                #expect((PromptError(code, reason: "a") == PromptError(other, reason: "b")) == (index == otherIndex))
            }
        }
    }

    @Test
    func description_hasCodeAndReason() {
        #expect("\(PromptError(.timedOut, reason: "nobody has answered"))" == "timedOut: nobody has answered")
        #expect(Set(PromptErrorTests.codes.map { "\($0)" }).count == PromptErrorTests.codes.count)
    }
}
