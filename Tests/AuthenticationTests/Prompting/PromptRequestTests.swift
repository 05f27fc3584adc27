import KeychaindAuthentication
import KeychaindDesktop
import KeychaindLanguage
import KeychaindTestSupport
import Testing

struct PromptRequestTests {
    private func message(_ text: String) -> String {
        PromptRequest(question: .password, message: Text(verbatim: text)).message
    }

    @Test(arguments: ["", "Unlock “Login”", "Ключ", "鍵 🔑", "a\nb", "👩‍💻", "e\u{301}"])
    func init_plainText_isKept(text: String) {
        #expect(message(text) == text)
    }

    @Test(
        arguments: [
            ("a\u{0}b", "a b"), ("a\u{1B}[31mb", "a [31mb"), ("a\tb\r", "a b "), ("a\u{202E}b", "a b"),
            ("a\u{2066}b\u{2069}", "a b "), ("a\u{200F}b", "a b"), ("a\u{2028}b\u{2029}", "a b "),
            ("a\u{FEFF}b", "a b"),
            ("a\u{E000}b", "a b"),
        ]
    )
    func init_controlCharacters_areReplaced(text: String, cleaned: String) {
        #expect(message(text) == cleaned)
    }

    @Test
    func init_longText_isCut() {
        let limit = PromptText.textLimit
        #expect(message(String(repeating: "x", count: limit)).count == limit)
        #expect(message(String(repeating: "x", count: limit + 1)) == String(repeating: "x", count: limit) + "…")
        #expect(message(String(repeating: "e\u{301}", count: 1 << 20)).unicodeScalars.count == limit + 1)
    }

    @Test
    func init_shortTexts_areOnOneLine() {
        let request = PromptRequest(
            question: .newPassword,
            title: "a\nb",
            message: "",
            continueLabel: "c\nd",
            cancelLabel: "e\nf",
            windowID: "g\nh"
        )
        #expect(
            [request.title, request.continueLabel, request.cancelLabel, request.windowID] == [
                "a b", "c d", "e f", "g h",
            ]
        )
    }

    @Test
    func warning_setLater_isCleanedToo() {
        var request = PromptRequest(question: .password, message: "")
        request.warn("wrong\u{202E}")
        #expect(request.warning == "wrong ")
    }

    @Test
    func init_stackedMarks_areCutToWhatScriptsNeed() {
        let stacked = "e" + String(repeating: "\u{301}", count: 1000) + "f"
        #expect(message(stacked).unicodeScalars.elementsEqual("e\u{301}\u{301}\u{301}\u{301}f".unicodeScalars))
        let pointed = "\u{5E9}\u{5C1}\u{5BC}\u{5B8}"
        #expect(PromptText.name(pointed).unicodeScalars.elementsEqual(pointed.unicodeScalars))
        #expect(PromptText.name("a\u{20DD}\u{301}\u{301}\u{301}\u{301}").unicodeScalars.count == 5)
    }

    @Test(
        arguments: [
            ("ok”. This request was checked: “x", "ok’. This request was checked: ‘x"), ("say \"yes\"", "say ’yes’"),
            ("„a‟ ″ ＂ ❞ 〞", "‘a‘ ’ ’ ’ ’"), ("it's ‘fine’ «so» 「か」", "it's ‘fine’ ‘so’ 「か」"),
            ("ok’’. Checked: ‘‘x", "ok’. Checked: ‘x"), ("ok””", "ok’"), ("ok'\u{200D}'", "ok'\u{200D}"),
            ("ok’\u{FE0F}’", "ok’\u{FE0F}"), ("ok’\u{34F}\u{3164}’", "ok’\u{34F}\u{3164}"),
            ("ʺ ˝ 〃", "’ ’ ’"),
        ]
    )
    func name_quotationMarks_doNotEndTheQuotation(text: String, name: String) {
        #expect(PromptText.name(text) == name)
        // The daemon's own quotation marks stay.
        let request = PromptRequest(question: .password, message: "“\(name)”", caller: "“\(name)” (process 1)")
        #expect(request.message == "“\(name)”" && request.caller == "“\(name)” (process 1)")
    }

    @Test("no letter before a tag and no joiner in it hides it", arguments: ["\u{D4E}<b>", "<\u{200D}b>"])
    func withoutTags_partOfACharacter_isReplaced(text: String) {
        #expect(!PromptText.withoutTags(text).unicodeScalars.contains("<"))
    }

    @Test("a name in a language from right to left is set apart, and cannot set apart itself")
    func request_rightToLeft_isolatesNames() {
        let name = PromptText.name("a\u{2069}\u{202E}b")
        let request = PromptRequest(
            question: .password,
            language: .rightToLeft,
            message: Text.init("Unlock “\(name)”"),
            cancelLabel: "\u{2068}No"
        )
        #expect(request.message == "Unlock “\u{2068}a  b\u{2069}”")
        #expect(request.cancelLabel == " No")
    }

    @Test
    func name_longLabel_isCutOnOneLine() {
        #expect(PromptText.name("Login") == "Login")
        #expect(PromptText.name("Login\n\nEnter your password") == "Login  Enter your password")
        let long = String(repeating: "x", count: 1000)
        #expect(PromptText.name(long) == String(repeating: "x", count: PromptText.nameLimit) + "…")
    }
}
