import KeychaindTestSupport
import SecretServiceClient
import Testing

/// `keychainctl import` of items that keychaind has otherwise.
struct DifferenceTests {
    /// A home whose keychaind has the item "old" where the source has "new".
    private func makeHome() async throws -> ImportHome {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem(label: "old", secret: "old", attributes: ["n": "1"])])
        _ = try await home.runImport()
        try home.writePlainKeyring([
            PlainItem(label: "new", secret: "new", attributes: ["n": "1"], modified: 1_710_000_000),
            PlainItem(label: "other", attributes: ["n": "2"]),
        ])
        return home
    }

    @Test("An item that differs is left and named until --keep or --replace decides; --dry-run changes nothing")
    func import_differing_isDecided() async throws {
        let home = try await makeHome()
        let before = try await home.login()
        let dry = try await home.runImport(["--dry-run"])
        #expect(dry.status == .success, "\(dry.errors)")
        #expect(dry.text == "KEYCHAIN  NEW  SAME  DIFFERS\nlogin       1     0        1\n")
        #expect(try await home.login() == before)
        #expect(try home.reports.count == 1)

        // The others arrive.
        let undecided = try await home.runImport()
        #expect(undecided.status == .exited(2))
        #expect(undecided.text.contains("Left: “new” in “login”: it differs from keychaind's own"))
        #expect(try await home.login().map(\.label) == ["old", "other"])
        let kept = try await home.runImport(["--keep"])
        #expect(kept.status == .success, "\(kept.errors)")
        #expect(try await home.login().map(\.label) == ["old", "other"])

        let replaced = try await home.runImport(["--replace"])
        #expect(replaced.status == .success, "\(replaced.errors)")
        let items = try await home.login()
        #expect(items.map(\.label) == ["new", "other"])
        #expect(items.first?.secret == Array("new".utf8) && items.first?.modified == 1_710_000_000)
    }

    @Test("--replace among twins replaces the one that differs")
    func import_replaceTwin_keepsTheOther() async throws {
        let home = try ImportHome()
        let twins = ["one", "two"].map { PlainItem(label: "twin", secret: $0, attributes: ["n": "1"]) }
        try home.writePlainKeyring(twins)
        _ = try await home.runImport()
        try home.writePlainKeyring([twins[0], PlainItem(label: "twin", secret: "three", attributes: ["n": "1"])])
        let result = try await home.runImport(["--replace"])
        #expect(result.status == .success, "\(result.errors)")
        #expect(try await home.login().map(\.secret) == ["one", "three"].map { Array($0.utf8) })
    }

    @Test("at a terminal each difference is asked for")
    func import_terminal_asks() async throws {
        let home = try await makeHome()
        let terminal = try TestTerminal()
        let process = try terminal.run("\(ImportHome.executable) import", environment: home.environment)
        // The keyring has no password, keychaind's keychain has one.
        try await terminal.waitFor("Password of keychaind's keychain “login”: ")
        try await eventually("the terminal hides what is typed") { !terminal.echoes }
        terminal.type("password\r")
        try await terminal.waitFor(
            "is in keychaind with another secret, label.\r\n[k]eep keychaind's, [r]eplace it, [K]eep all"
        )
        terminal.type("r\r")
        #expect(try await process.waitForExit() == .success)
        #expect(try await home.login().map(\.label) == ["new", "other"])
    }
}
