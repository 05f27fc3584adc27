import KeychaindAuthentication
import Testing

@Suite(.lockedPool)
struct GCRExchangeMessageTests {
    private func parse(_ text: String) -> GCRExchangeMessage? {
        Array(text.utf8).withUnsafeBytes { GCRExchangeMessage(parsing: $0) }
    }

    @Test
    func text_publicKey_isReadBack() throws {
        let message = GCRExchangeMessage(publicKey: [0, 1, 2, 255])
        #expect(message.text == "[sx-aes-1]\npublic=AAEC/w==\n")
        #expect(parse(message.text) == message)
    }

    @Test
    func parse_password_isRead() throws {
        let message = try #require(parse("\n[sx-aes-1]\npublic=AAEC/w==\nsecret=Zm9v\niv=YmFy\n"))
        #expect(message.publicKey == [0, 1, 2, 255])
        #expect(message.password?.ciphertext == Array("foo".utf8))
        #expect(message.password?.iv == Array("bar".utf8))
    }

    @Test(
        arguments: [
            "", "nonsense", "[sx-aes-1]\n", "[sx-aes-2]\npublic=AAEC/w==", "[sx-aes-1]\npublic=AAEC/w",
            "[sx-aes-1]\npublic=!",
            "[sx-aes-1]\npublic=AAEC/w==\nsecret=Zm9v", "[sx-aes-1]\npublic=AAEC/w==\nsecret=?\niv=YmFy",
            "[sx-aes-1]\npublic=AAEC/w==\nsecret=Zm9v\niv=?", "[sx-aes-1]\nsecret=Zm9v\niv=YmFy",
        ]
    )
    func parse_garbage_isRefused(text: String) {
        #expect(parse(text) == nil)
    }

    @Test
    func parse_textOverLimit_isRefused() {
        let text = "[sx-aes-1]\npublic=AAEC/w==\n#"
        let padding = String(repeating: "x", count: GCRExchangeMessage.sizeLimit - text.utf8.count)
        #expect(parse(text + padding) != nil)
        #expect(parse(text + padding + "x") == nil)
    }
}
