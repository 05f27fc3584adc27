import KeychaindAuthentication
import Testing

struct PinentryEnvironmentTests {
    private static let given = [
        "DISPLAY": ":1", "LC_TIME": "C", "XDG_RUNTIME_DIR": "/r", "LD_PRELOAD": "x", "GPG_TTY": "y", "LC": "z",
        "DBUS_SESSION_BUS_ADDRESS": "b", "PATH": "/bin",
    ]

    @Test
    func forWindows_variables_areThoseOfWindows() {
        #expect(
            PinentryEnvironment.forWindows(from: Self.given).keys.sorted()
                == ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "LC_TIME", "PATH", "XDG_RUNTIME_DIR"]
        )
    }

    @Test
    func forTerminal_variables_leadToNoWindow() {
        #expect(PinentryEnvironment.forTerminal(from: Self.given).keys.sorted() == ["LC_TIME", "PATH"])
    }

    @Test
    func localeOptions_locale_isTheOneThatCounts() {
        let lines = { (variables: [String: String]) in
            PinentryEnvironment.localeOptions(from: variables).map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        #expect(lines([:]).isEmpty)
        #expect(
            lines(["LANG": "de_DE.UTF-8", "LC_CTYPE": "", "LC_MESSAGES": "C"])
                == ["OPTION lc-ctype=de_DE.UTF-8\n", "OPTION lc-messages=C\n"]
        )
        #expect(lines(["LC_ALL": "C", "LANG": "x"]) == ["OPTION lc-ctype=C\n", "OPTION lc-messages=C\n"])
    }
}
