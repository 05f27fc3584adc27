import KeychaindAuthentication
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
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

    @Test("Nothing of the user's folders, themes, modules or buses reaches a dialog on the screen")
    func forScreen_variables_areFixed() async throws {
        let screen = try await FakeScreen()
        let sockets = [try await screen.listen("run/wayland-0"), try await screen.listen("x11/X5")]
        let display = try #require(await screen.displays.find())
        let given = [
            "HOME": "/home/ann", "LANG": "de_DE.UTF-8", "DISPLAY": ":9", "WAYLAND_DISPLAY": "/tmp/evil",
            "XDG_DATA_DIRS": "/home/ann", "GTK_THEME": "evil", "QT_QPA_PLATFORMTHEME": "qt5ct", "PATH": "/home/ann",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/evil", "LD_PRELOAD": "/evil",
        ]
        #expect(
            PinentryEnvironment.forScreen(display, from: given) == [
                "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null",
                "XDG_DATA_HOME": "/dev/null", "XDG_CONFIG_DIRS": "/etc/xdg",
                "XDG_DATA_DIRS": "/usr/local/share:/usr/share", "PATH": "/usr/bin:/bin", "LANG": "de_DE.UTF-8",
                "DBUS_SESSION_BUS_ADDRESS": "disabled:", "NO_AT_BRIDGE": "1", "WAYLAND_SOCKET": "3",
                "WAYLAND_DISPLAY": "wayland-0",
                "XDG_SESSION_TYPE": "wayland",
            ]
        )
        // The administrator lets screen readers in.
        try screen.folder.write("", to: "accessible-dialogs")
        let accessible = PinentryEnvironment.forScreen(try #require(await screen.displays.find()), from: given)
        #expect(accessible["DBUS_SESSION_BUS_ADDRESS"] == "unix:path=/evil" && accessible["NO_AT_BRIDGE"] == nil)
        withExtendedLifetime(sockets) {}
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
