import KeychaindFiles
import Testing

/// Reading a file of groups and keys, and changes of one key that others write too.
@Suite struct KeyFileTests {
    @Test(
        "a key is set, and every other byte stays",
        arguments: [
            ("", "[G]\nk=v\n"),
            ("[G]\n", "[G]\nk=v\n"),
            ("[G]\nk=old\n", "[G]\nk=v\n"),
            ("[G]\n k = old \nl=1", "[G]\nk=v\nl=1\n"),
            ("# k=1\n[F]\nk=1\n\n[G]\nl=1\n\n[H]\nk=1\n", "# k=1\n[F]\nk=1\n\n[G]\nl=1\nk=v\n\n[H]\nk=1\n"),
            ("[G]\nk=1\n[G]\nk=2\n", "[G]\nk=1\n[G]\nk=v\n"),
            ("[G]\n#k=1\nk[de]=1\n", "[G]\n#k=1\nk[de]=1\nk=v\n"),
            ("[F]\nk=1\n", "[F]\nk=1\n\n[G]\nk=v\n"),
            ("[G][$i]\nk=1\n", "[G][$i]\nk=1\n\n[G]\nk=v\n"),
        ]
    )
    func key_isSetAlone(before: String, after: String) {
        var file = KeyFile(Array(before.utf8))
        file.set(.init("G", "k", "v"))
        #expect(String(decoding: file.bytes, as: UTF8.self) == after)
        #expect(file.value("G", "k") == "v")
    }

    @Test("an undone key has its former value, or is gone", arguments: [nil, "old"] as [String?])
    func undoneKey_isAsBefore(was: String?) {
        var setting = KeyFile.Setting("G", "k", "v")
        setting.was = was
        var file = KeyFile(Array("[G]\nk=v\nl=1\n".utf8))
        file.undo(setting)
        #expect(file.value("G", "k") == was)
        #expect(file.value("G", "l") == "1")
    }

    @Test("a key that has got another value since is not undone")
    func undoneKey_withAnotherValue_stays() {
        var file = KeyFile(Array("[G]\nk=third\n".utf8))
        file.undo(.init("G", "k", "v"))
        #expect(file.value("G", "k") == "third")
    }

    @Test("bytes that are no text stay as they are")
    func bytes_thatAreNoText_stay() {
        let bytes: [UInt8] = [0xff, 0x00, 0x0d, 0x0a] + Array("[G]\n".utf8) + [0xc3, 0x3d, 0x0a]
        var file = KeyFile(bytes)
        file.set(.init("G", "k", "v"))
        #expect(file.bytes == bytes + Array("k=v\n".utf8))
    }

    @Test(
        "a key is found in its group",
        arguments: [
            "[group]\nkey=value\n", "[group]\nkey=value", "\n\n[group]\n\nkey=value\n\n",
            "# comment\n[group]\n#key=other\nkey=value", "[group]\r\nkey=value\r\n",
            "[group]\n key = value \t\n", "[other]\nkey=other\n[group]\nkey=value\n[another]\nkey=third",
            "[group]\nkey=first\nkey=value", "[group]\nkey=first\n[other]\n[group]\nkey=value",
        ]
    )
    func key_inItsGroup_isFound(text: String) {
        let file = KeyFile(Array(text.utf8))
        #expect(file.value("group", "key") == "value")
        #expect(file.isWellFormed)
    }

    @Test("a value is kept whole, with separators or empty", arguments: [("key=a=b==", "a=b=="), ("key=", "")])
    func value_isWhole(line: String, value: String) {
        #expect(KeyFile(Array("[group]\n\(line)".utf8)).value("group", "key") == value)
    }

    @Test(
        "other keys and groups are not found",
        arguments: [
            "", "\n", "key=value", "[other]\nkey=value", "[group]\n", "[group]\nother=value", "[group]\nKey=value",
            "[group]\nkey[de]=value", "[group]]\nkey=value", "[ group ]\nkey=value",
        ]
    )
    func otherKey_isNotFound(text: String) {
        #expect(KeyFile(Array(text.utf8)).value("group", "key") == nil)
    }

    @Test(
        "a line that is neither a header nor an entry is noticed",
        arguments: ["[group", "group]", "[group]\nkey", "[group]\n=value", "[group]\nkey\n=", "[key=value", "\u{0}"]
    )
    func otherLine_isNotWellFormed(text: String) {
        #expect(!KeyFile(Array(text.utf8)).isWellFormed)
    }

    @Test("any bytes are read")
    func anyBytes_areRead() {
        var generator = SystemRandomNumberGenerator()
        let characters = Array("[]=#group \r\n\tkey".utf8) + [0, 0x80, 0xFF]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                characters.randomElement(using: &generator) ?? 0
            }
            let file = KeyFile(text)
            _ = (file.isWellFormed, file.value("group", "key"))
        }
    }
}
