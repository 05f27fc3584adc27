import KeychaindCommandLine
import Testing

@Suite struct VisibleTextTests {
    @Test(
        "characters that act on a terminal or on the direction of text are escaped",
        arguments: [
            ("Bank of Örebro 🏦", "Bank of Örebro 🏦"),
            ("\u{1B}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\nb\tc\u{7F}", "a\\u{a}b\\u{9}c\\u{7f}"),
            ("\u{9B}31m", "\\u{9b}31m"),
            ("file\u{202E}gpj.exe", "file\\u{202e}gpj.exe"),
            ("a\u{200B}b\u{2028}c", "a\\u{200b}b\\u{2028}c"),
            (#"\u{1b}"#, #"\\u{1b}"#),
        ]
    )
    func visible_escapes(text: String, visible: String) {
        #expect(text.visible == visible)
    }
}
