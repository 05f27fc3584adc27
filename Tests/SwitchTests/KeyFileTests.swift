import KeychaindSwitch
import Testing

/// Changes of one key in a file that others write too.
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
}
