import KeychaindDesktop
import Testing

/// The data of terminals, and invalid values in it.
struct TerminalValuesTests {
    @Test(
        arguments: [
            (0x8800, "/dev/pts/0"), (0x8805, "/dev/pts/5"), (0x88FF, "/dev/pts/255"), (0x10_8800, "/dev/pts/256"),
            (0x8900, "/dev/pts/256"), (0x0401, "/dev/tty1"), (0x043F, "/dev/tty63"), (0x0440, "/dev/ttyS0"),
            (0, nil), (0x0500, nil), (0x0103, nil), (UInt32.max, nil),
        ] as [(UInt32, String?)]
    )
    func path_number_isTheConventionalOne(number: UInt32, path: String?) {
        #expect(TerminalDevice(number: number).path == path)
    }

    @Test
    func environment_values_areTakenIfTheyAreNames() {
        let content = [
            "TERM=xterm-256color", "LANG=de_DE.UTF-8@euro", "LC_CTYPE=../../x", "LC_ALL=", "LD_PRELOAD=x", "broken",
            "=x",
        ]
        let environment = TerminalEnvironment(Array(content.joined(separator: "\0").utf8))
        #expect(environment.type == "xterm-256color")
        #expect(environment.locale == ["LANG": "de_DE.UTF-8@euro"])
    }

    @Test(
        arguments: [
            "", "TERM", "TERM=", "TERM=../../evil", "TERM=/tmp/x", "TERM=.x", "TERM=a b", "TERM=a\nOPTION x",
            "TERM=" + String(repeating: "x", count: 65), "TERM=\u{FF}",
        ]
    )
    func environment_typeIsUnusable_isOneThatAllUnderstand(content: String) {
        #expect(TerminalEnvironment(Array(content.utf8)).type == "vt100")
    }

    @Test
    func environment_noText_isNothing() {
        let garbage = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 131) }
        #expect(TerminalEnvironment(garbage).locale.isEmpty)
    }
}
