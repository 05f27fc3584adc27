import KeychaindAuthentication
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindSecretService
import Testing

/// The headlines of dialogs with the longest names that programs can choose.
struct HeadlineTests {
    private static func long(_ character: String) -> String { String(repeating: character, count: 90) }

    private func purpose(hasScope: Bool, character: String) throws -> AuthenticationPurpose {
        var settings = AuthenticationSettings()
        try settings.setGrantReuse(milliseconds: 300_000)
        let caller = Caller(uniqueName: ":1.1", insight: .portal(application: Self.long(character)))
        let names = (0..<3).map { ItemName(label: "\($0)" + Self.long(character)) }
        var purpose = AuthenticationPurpose(caller: caller, names: names, settings: settings)
        if hasScope { purpose.scope = ProofScope(of: Constraint.userPresence.policy, for: .seconds(300)) }
        return purpose
    }

    @Test("a prompter shows what the answer opens, and for how long", arguments: [false, true], ["ä", "%", "<"])
    func headline_longNames_isShownToItsEnd(hasScope: Bool, character: String) throws {
        let purpose = try purpose(hasScope: hasScope, character: character)
        let scope = "every item that your fingerprint or password protects, for 5 minutes"
        let headlines = [purpose.headline(unlocking: Self.long(character)), purpose.words(windowID: "").message]
        for text in headlines.map(\.english) {
            #expect(text.shownBytes <= 600 && text.hasSuffix(hasScope ? ", and \(scope)" : ", for 5 minutes"))
            // Without more that it opens, it names each item.
            #expect(text.contains("“0\(character)") && (hasScope || text.contains("“2\(character)")))
        }
    }
}
