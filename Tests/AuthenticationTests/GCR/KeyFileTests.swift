import KeychaindAuthentication
import Testing

struct KeyFileTests {
    private func value(of key: String, in text: String) -> String? {
        KeyFile(parsing: Array(text.utf8), group: "group")?[key].map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        arguments: [
            "[group]\nkey=value\n",
            "[group]\nkey=value",
            "\n\n[group]\n\nkey=value\n\n",
            "# comment\n[group]\n#key=other\nkey=value",
            "[group]\r\nkey=value\r\n",
            "[group]\n key = value \t\n",
            "[other]\nkey=other\n[group]\nkey=value\n[another]\nkey=third",
            "[group]\nkey=first\nkey=value",
            "[group]\nkey=first\n[other]\n[group]\nkey=value",
        ]
    )
    func parse_keyInGroup_isFound(text: String) {
        #expect(value(of: "key", in: text) == "value")
    }

    @Test
    func parse_valueWithSeparator_isKeptWhole() {
        #expect(value(of: "key", in: "[group]\nkey=a=b==") == "a=b==")
    }

    @Test
    func parse_valueMissing_isEmpty() {
        #expect(value(of: "key", in: "[group]\nkey=") == "")
    }

    @Test(arguments: ["[group]\n", "[group]\nother=value", "[group]\nKey=value", "[group]\nkey[de]=value"])
    func parse_otherKeys_areNotFound(text: String) {
        #expect(KeyFile(parsing: Array(text.utf8), group: "group") != nil)
        #expect(value(of: "key", in: text) == nil)
    }

    @Test(
        arguments: [
            "", "\n", "key=value", "[other]\nkey=value", "[group", "group]", "[group]\nkey", "[group]\n=value",
            "[group]\nkey\n=",
            "[group]]\nkey=value", "[ group ]\nkey=value", "\u{0}",
        ]
    )
    func parse_noKeyFileOrNotTheGroup_isRefused(text: String) {
        #expect(KeyFile(parsing: Array(text.utf8), group: "group") == nil)
    }

    @Test
    func parse_anyBytes_doesNotCrash() {
        var generator = SystemRandomNumberGenerator()
        let characters = Array("[]=#group \r\n\tkey".utf8) + [0, 0x80, 0xFF]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                characters.randomElement(using: &generator) ?? 0
            }
            _ = KeyFile(parsing: text, group: "group")?["key"]
        }
    }
}
