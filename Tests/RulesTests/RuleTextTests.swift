import KeychaindModel
import KeychaindRules
import Testing

/// The text of rules.
struct RuleTextTests {
    @Test(
        "a rule is printed in its one form, and read from it",
        arguments: [
            ("never flatpak:org.example.Chat service=bank", nil),
            ("allow any *", nil),
            ("hide any service=bank", nil),
            ("  ask-always   any   collection=login  ", "ask-always any collection=login"),
            (
                "ask-once program:/usr/bin/git through program:/usr/bin/secret-tool in any collection=login until 2026-12-01",
                "ask-once program:/usr/bin/git through program:/usr/bin/secret-tool in any collection=login "
                    + "until 2026-12-01T00:00:00Z"
            ),
            ("notify snap:firefox item=/org/freedesktop/secrets/collection/login/5", nil),
            ("allow any b=2 a=1", "allow any a=1 b=2"),
            ("allow any attribute:item=x attribute:service=y", "allow any attribute:item=x service=y"),
            ("allow any attribute:attribute:z=1", nil),
            (
                "allow \"program:/opt/My App/run\" service=\"my bank\"",
                "allow program:\"/opt/My App/run\" service=\"my bank\""
            ),
            ("allow any \"na=me\"=\"va=lue\"", nil),
            ("allow any service=", nil),
            ("allow any service=\"a\\nb\\u{1b}\\u{202e}\\\\\\\"\"", nil),
            ("allow any service=\"*\"", nil),
            ("allow any \"until\"=x", "allow any until=x"),
            ("never script:\"/home/a b/run.py\" * until 2027-02-28T23:59:59Z", nil),
            ("allow label:\"lxc-container (x)\" *", nil),
        ]
    )
    func text_isCanonical(line: String, canonical: String?) throws {
        let rule = try Rule(line)
        #expect(rule.text == canonical ?? line)
        #expect(try Rule(rule.text) == rule)
        #expect(rule.text.unicodeScalars.allSatisfy { $0.value >= 32 && $0 != "\u{202e}" })
    }

    @Test(
        "what is no rule is refused, with the reason",
        arguments: [
            ("", RuleError.unknownAction("")),
            ("perhaps any *", .unknownAction("perhaps")),
            ("\"allow\" any *", .unknownAction("allow")),
            ("allow", .missingProgram),
            ("allow flatpak: *", .unknownProgram("flatpak:")),
            ("allow /usr/bin/git *", .unknownProgram("/usr/bin/git")),
            ("allow \"any\" *", .unknownProgram("any")),
            ("allow any", .missingItem),
            ("allow any until 2027-01-01", .missingItem),
            ("allow any service", .unknownItem("service")),
            ("allow any =x", .unknownItem("=x")),
            ("allow any * service=x", .wildcardAmongOthers),
            ("allow any service=x *", .wildcardAmongOthers),
            ("allow any a=1 a=2", .repeated("a")),
            ("allow any item=/x", .unknownItem("item=/x")),
            (
                "allow any item=/org/freedesktop/secrets/collection/login/05",
                .unknownItem("item=/org/freedesktop/secrets/collection/login/05")
            ),
            ("allow any collection=a/b", .unknownItem("collection=a/b")),
            ("allow any * until", .unknownTime("")),
            ("allow any * until 2027-02-29", .unknownTime("2027-02-29")),
            ("allow any * until 2027-01-01T24:00:00Z", .unknownTime("2027-01-01T24:00:00Z")),
            ("allow any * until 2027-01-01 never", .trailing("never")),
            ("allow any service=\"x", .unfinishedQuote),
            ("allow any service=\"\\x\"", .unknownEscape),
            ("allow any service=\"\\u{0}\"", .unknownEscape),
            ("allow any service=\"\\u{d800}\"", .unknownEscape),
            ("allow any service=\"\\u{1111111}\"", .unknownEscape),
            ("allow any service=a\\nb", .unknownEscape),
            ("allow any service=a\u{1b}[2J", .controlCharacter),
            ("allow any service=a\u{202e}b", .controlCharacter),
            ("allow any *\nallow any *", .controlCharacter),
            ("allow any service=" + String(repeating: "a", count: 4096), .tooLong),
        ]
    )
    func text_refused(line: String, error: RuleError) {
        #expect(throws: error) { try Rule(line) }
        #expect(error.reason.unicodeScalars.allSatisfy { $0.value >= 32 })
    }

    @Test("the times of rules are those of the calendar")
    func times() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:01Z", 951_825_601), ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            #expect(RuleTime.parse(text) == Timestamp(seconds: UInt64(seconds)))
            #expect(RuleTime.text(of: Timestamp(seconds: UInt64(seconds))) == text)
        }
    }

    @Test("a chain of programs is only said, and a rule about any program says nothing")
    func strength() throws {
        for (text, strength) in [
            ("allow flatpak:org.a.B *", Strength.proven), ("allow program:/usr/bin/git *", .likely),
            ("allow unit:a.service *", .said), ("allow program:/usr/bin/git through any *", .said),
            ("allow flatpak:org.a.B in any *", .said), ("allow any *", nil),
        ] as [(String, Strength?)] {
            #expect(try Rule(text).programs.strength == strength, "\(text)")
        }
    }
}
