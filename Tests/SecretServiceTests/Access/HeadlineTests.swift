import KeychaindAuthentication
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import Testing

@testable import KeychaindSecretService

/// The headlines of dialogs with the longest names that programs can choose.
struct HeadlineTests {
    private static let long = String(repeating: "ä", count: 100)

    private func purpose(hasScope: Bool) throws -> AuthenticationPurpose {
        var settings = AuthenticationSettings()
        try settings.setGrantReuse(milliseconds: 300_000)
        let caller = Caller(uniqueName: ":1.1", insight: .portal(application: Self.long))
        let names = (0..<3).map { ItemName(label: "\($0)" + String(repeating: "n", count: 90)) }
        var purpose = AuthenticationPurpose(caller: caller, names: names, settings: settings)
        if hasScope { purpose.scope = ProofScope(of: Constraint.userPresence.policy, for: .seconds(300)) }
        return purpose
    }

    @Test("a prompter shows what the answer opens, and for how long", arguments: [false, true])
    func headline_longNames_isShownToItsEnd(hasScope: Bool) throws {
        let purpose = try purpose(hasScope: hasScope)
        let scope = "every item that your fingerprint or password protects, for 5 minutes"
        for text in [purpose.headline(unlocking: Self.long), purpose.words(windowID: "").message].map(\.english) {
            #expect(text.utf8.count <= 600 && text.hasSuffix(hasScope ? ", and \(scope)" : ", for 5 minutes"))
            // Without more that it opens, it names each item.
            #expect(text.contains("“0nnn") && (hasScope || text.contains("“2nnn")))
        }
    }
}
