import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

/// Sources and targets of `keychainctl import` that fail or lie.
struct BadSourceTests {
    @Test("a wrong password imports nothing")
    func import_wrongPassword_isRefused() async throws {
        let home = try ImportHome()
        try await home.withGnomeKeyring { _ in }
        let result = try await home.runImport(password: "wrong")
        #expect(result.status == .exited(6))
        #expect(result.errors.contains("no keychain of gnome-keyring could be opened with a password"))
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
        #expect(try home.leftovers.isEmpty)
    }

    @Test("without a terminal and a password, the import says that it cannot ask", arguments: [false, true])
    func import_withoutTerminal_isRefused(ofFile: Bool) async throws {
        let home = try ImportHome()
        try await home.withGnomeKeyring { _ in }
        let file = home.folder.path("data/keyrings/login.keyring")
        let arguments = ["--wait", ImportHome.executable, "import"] + (ofFile ? [file] : [])
        let result = try await Command.run("setsid", arguments, environment: home.environment)
        #expect(result.status == .exited(7), "\(result.errors)")
        #expect(result.errors.contains("there is no terminal to ask for a password; use --password-fd"))
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
        #expect(try home.leftovers.isEmpty)
    }

    @Test("a keyring that gnome-keyring passes over is read as a file, and named if it is damaged")
    func import_unreadKeyrings_areReadOrNamed() async throws {
        let home = try ImportHome()
        try await home.withGnomeKeyring { _ in }
        let login = try Data(contentsOf: URL(fileURLWithPath: home.folder.path("data/keyrings/login.keyring")))
        let cut = home.folder.path("data/keyrings/Cut_ä.keyring")
        try login.dropLast(20).write(to: URL(fileURLWithPath: cut))
        for (name, secret) in [("Work at home", "secret"), ("plain", "line\n line")] {
            let lines = "[keyring]\ndisplay-name=\(name)\n\n[1]\nitem-type=0\ndisplay-name=item\nsecret=\(secret)\n"
            try home.folder.write(lines, to: "data/keyrings/\(name).keyring")
        }
        let result = try await home.runImport()
        #expect(result.status == .exited(2))
        #expect(result.text.contains("Keychain “Cut_ä.keyring” stays behind: \(cut): "))
        #expect(result.text.contains("3 items: 2 copied, 0 were there, 1 left; 2 verified"))
        #expect(result.text.contains("Left: “item” in “plain”: line breaks at the end of its secret may be missing"))
    }

    @Test("a provider that dies in the middle imports nothing")
    func import_sourceDies_importsNothing() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem()])
        let result = try await home.runImport(environment: try home.fakeProvider("os._exit(1)"))
        #expect(result.status == .exited(8))
        #expect(result.errors.contains("gnome-keyring ended or hung while it was read; nothing was imported"))
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
        #expect(try home.leftovers.isEmpty)
    }

    @Test("a source whose dialog is dismissed imports nothing")
    func import_dialogDismissed_importsNothing() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem()])
        let display = ["DISPLAY": ":none"]
        let environment = try home.fakeProvider(isLocked: true).merging(display) { $1 }
        let result = try await home.runImport(environment: environment)
        #expect(result.status == .exited(5))
        #expect(result.errors.contains("the dialog of gnome-keyring was dismissed; nothing was imported"))
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
        #expect(try home.leftovers.isEmpty)
    }

    @Test("Ctrl-C while items are written leaves whole items, and a later import adds the rest")
    func import_interruptedWriting_continues() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem()])
        let count = 2_000
        let fake = try home.fakeProvider(count: count)
        try home.folder.write("password", to: "password")
        let terminal = try TestTerminal()
        let command = "\(ImportHome.executable) import --password-fd 3 3<\(home.folder.path("password"))"
        let process = try terminal.run(command, environment: home.environment.merging(fake) { $1 })
        try await terminal.waitFor("Writing [")
        terminal.type("\u{3}")
        #expect(try await process.waitForExit() == .exited(5))
        #expect(try home.leftovers.isEmpty)
        let copied = try #require(try home.reports.first?["copied"] as? Int)
        #expect(copied > 0)
        let stored = try await home.login()
        #expect(stored.count == copied)
        #expect(stored.allSatisfy { $0.secret == Array($0.attributes["path", default: ""].utf8) })
        let rest = try await home.runImport(environment: fake)
        #expect(rest.text.contains("\(count) items: \(count - copied) copied, \(copied) were there"), "\(rest.errors)")
    }

    @Test("an item that claims an access control or to be a key is left and named, with control characters escaped")
    func import_reserved_isLeft() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([
            PlainItem(label: "good", attributes: ["keychain:class": "genericPassword"]),
            PlainItem(label: "bad", attributes: ["keychain:access-control": "biometryAny", "n": "1"]),
            PlainItem(label: "worse", attributes: ["keychain:token": "tpm", "n": "2"]),
        ])
        let result = try await home.runImport()
        #expect(result.status == .exited(2))
        for label in ["bad", "worse"] {
            #expect(result.text.contains("Left: “\(label)” in “login”: it claims an access control of keychaind"))
        }
        #expect(try await home.login().map(\.label) == ["good"])
        let key = try await home.runImport(
            environment: try home.fakeProvider(
                "return {'/i/0': (session, b'', b'k', 'application/x-keychaind-private-key')}",
                label: "\\x1b[2J\\n"
            )
        )
        #expect(key.status == .exited(2))
        #expect(key.text.contains("“\\u{1b}[2J\\u{a}”") && key.text.contains("it claims to be a key of keychaind"))
        #expect(!key.output.contains(0x1B))
        let report = "\(try home.reports)"
        #expect(report.contains("1b") && !report.contains("\u{1B}"))
    }

    @Test("a full disk ends the import with a line and a report, and a later one continues")
    func import_fullDisk_stopsAndContinues() async throws {
        guard ForeignFileSystem.isPossible else { return }
        let home = try ImportHome()
        let text = String(repeating: "x", count: 10_000)
        try home.writePlainKeyring((0..<200).map { PlainItem(secret: text, attributes: ["n": "\($0)"]) })
        let keychains = try home.folder.makeFolder("data/keychaind")
        let script = """
            mount -t tmpfs -o size=1m,mode=700 none '\(keychains)' && exec '\(ImportHome.executable)' import \
            --password-fd 0
            """
        let result = try await Command.run(
            "unshare",
            ["--map-root-user", "--mount", "sh", "-c", script],
            environment: home.environment,
            input: Array("password".utf8)
        )
        #expect(result.status == .exited(10))
        #expect(result.errors.contains("keychaind cannot store the items"))
        let copied = try #require(try home.reports.first?["copied"] as? Int)
        #expect((1..<200).contains(copied))
        #expect(try await home.runImport().text.contains("200 copied"))
    }

    @Test("links to the user's own folders are followed")
    func import_linkedFolders_areRead() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem()])
        try FileManager.default.moveItem(atPath: home.folder.path("data/keyrings"), toPath: home.folder.path("synced"))
        let settings = try home.folder.makeFolder("settings")
        for (link, target) in [("data/keyrings", "../synced"), ("home/.config", "../settings")] {
            try FileManager.default.createSymbolicLink(
                atPath: home.folder.path(link),
                withDestinationPath: target
            )
        }
        _ = try home.folder.makeFolder("settings/keychaind")
        let mistake = try home.folder.write("nonsense = 1\n", to: "settings/keychaind/keychaind.toml")
        let result = try await home.runImport(environment: ["XDG_CONFIG_HOME": nil])
        #expect(result.status == .success, "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: settings) == ["keychaind"])
        #expect(try String(contentsOfFile: mistake, encoding: .utf8) == "nonsense = 1\n")
    }

    @Test("files of another user are refused", .enabled(if: geteuid() == 0))
    func import_otherOwner_isRefused() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem()])
        chown(home.folder.path("data/keyrings/login.keyring"), 65534, 65534)
        let result = try await home.runImport()
        #expect(result.status == .exited(7))
        #expect(result.errors.contains("belongs to another user (65534)"))
        #expect(try home.leftovers.isEmpty)
    }

    @Test("a file that cannot be found out about is not left out")
    func import_failedLook_isRefused() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem()])
        // The system does not look for such a long name.
        try FileManager.default.createSymbolicLink(
            atPath: home.folder.path("data/keyrings/user.keystore"),
            withDestinationPath: String(repeating: "n", count: 300)
        )
        let result = try await home.runImport()
        #expect(result.status == .exited(10), "\(result.errors)")
        #expect(result.errors.contains("user.keystore cannot be copied"))
        #expect(try home.leftovers.isEmpty)
    }

    @Test("without files there is nothing to import")
    func import_noFiles_isNotFound() async throws {
        let result = try await ImportHome().runImport()
        #expect(result.status == .exited(3))
        #expect(result.errors.contains("there is nothing to import"))
    }

    @Test("a keychaind that runs elsewhere is left alone")
    func import_folderInUse_isRefused() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem()])
        let result = try await home.withKeychaind { _ in try await home.runImport() }
        #expect(result.status == .exited(7))
        #expect(result.errors.contains("another keychaind uses your keychains"))
    }

    @Test("Ctrl-C at the password ends the import, and restores the terminal", arguments: ["\u{3}", "\u{4}"])
    func import_interrupted_leavesNothing(key: String) async throws {
        let home = try ImportHome()
        try await home.withGnomeKeyring { _ in }
        let terminal = try TestTerminal()
        let process = try terminal.run("\(ImportHome.executable) import", environment: home.environment)
        try await terminal.waitFor("usually your login password: ")
        try await eventually("the terminal hides what is typed") { !terminal.echoes }
        #expect(try home.leftovers.count == 1)
        terminal.type(key)
        #expect(try await process.waitForExit() == .exited(5))
        #expect(terminal.echoes)
        #expect(try home.leftovers.isEmpty)
    }

    @Test("the folder of a killed import is removed by the next one")
    func import_killed_isCleanedUp() async throws {
        let home = try ImportHome()
        try await home.withGnomeKeyring { _ in }
        let terminal = try TestTerminal()
        let command = "echo $$ >$HOME/pid; exec \(ImportHome.executable) import"
        let process = try terminal.run(command, environment: home.environment)
        try await terminal.waitFor("usually your login password: ")
        let id = try String(contentsOfFile: home.folder.path("home/pid"), encoding: .utf8)
        kill(try #require(Int32(id.trimmingCharacters(in: .newlines))), SIGKILL)
        try await process.waitForExit()
        #expect(try home.leftovers.count == 1)
        #expect(try await home.runImport().status == .success)
        #expect(try home.leftovers.isEmpty)
    }
}
