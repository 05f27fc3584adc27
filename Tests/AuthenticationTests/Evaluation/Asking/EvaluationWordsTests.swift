import KeychaindAuthentication
import KeychaindLanguage
import KeychaindModel
import KeychaindTestSupport
import Testing

struct EvaluationWordsTests {
    private let words = EvaluationWords(message: "Release “Bank”", reason: "To pay a bill", caller: "firefox")

    @Test(
        arguments: [
            (FactorSet.passcode, nil, true, "Type the password of your login keychain."),
            (.applicationPassword, nil, true, "Type the item’s own password."),
            (
                [.passcode, .applicationPassword], nil, true,
                "Type the password of your login keychain or the item’s own password."
            ),
            ([], BiometryHint.touch, true, "Touch the fingerprint reader."),
            ([], .swipe, true, "Swipe your finger across the fingerprint reader."),
            (.passcode, .touch, true, "Touch the fingerprint reader, or type the password of your login keychain."),
            (.passcode, .touch, false, "Touch the fingerprint reader, and type the password of your login keychain."),
        ] as [(FactorSet, BiometryHint?, Bool, String)]
    )
    func request_question_tellsWhatToDo(passwords: FactorSet, reader: BiometryHint?, suffices: Bool, text: String) {
        let question = EvaluationQuestion(
            passwords: passwords,
            reader: reader,
            readerSuffices: suffices,
            warning: "wrong"
        )
        let request = words.request(for: question)
        #expect(request.description == "To pay a bill\n\n" + text)
        #expect(request.question == (passwords.isEmpty ? .waiting : .password))
        #expect(request.warning == "wrong")
        #expect(request.caller == "firefox")
        #expect(request.message == "Release “Bank”")
    }

    @Test(
        arguments: [
            (nil, "", "Enter Password", "Cancel"), ("", "", "", "Cancel"),
            ("Use PIN", "Use Password", "Use PIN", "Use Password"),
        ] as [(String?, String, String, String)]
    )
    func request_titles_areTheCallers(fallback: String?, cancel: String, fallbackLabel: String, cancelLabel: String) {
        var words = words
        words.fallbackLabel = fallback.map(Text.init(verbatim:))
        words.cancelLabel = Text(verbatim: cancel)
        let touch = words.request(for: EvaluationQuestion(passwords: [], reader: .touch))
        #expect(touch.fallbackLabel == fallbackLabel)
        #expect(touch.cancelLabel == cancelLabel)
        // With a password field there is no fallback.
        #expect(words.request(for: EvaluationQuestion(passwords: .passcode, reader: .touch)).fallbackLabel.isEmpty)
    }
}
