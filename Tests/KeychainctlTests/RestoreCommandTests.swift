import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl backup and restore")
struct RestoreCommandTests {
    /// A keychain with a generation of the items “kept”, “changed” and “removed”, and changes since.
    private struct Fixture {
        let provider: RunningProvider
        let client: SecretClient
        let login: SecretCollection

        init(_ provider: RunningProvider) async throws {
            self.provider = provider
            client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            login = try #require(try await client.collection(alias: "login"))
        }

        func add(_ label: String, _ attributes: [String: String] = [:]) async throws -> SecretItem {
            let all = attributes.merging(["name": label]) { first, _ in first }
            return try await login.createItem(label: label, attributes: all, secret: try Secret("first \(label)"))
        }

        func run(_ arguments: String...) async throws -> CommandResult {
            let folder = URL(fileURLWithPath: KeychainDaemon.executable).deletingLastPathComponent().path
            return try await Command.run(folder + "/keychainctl", arguments, environment: provider.bus.environment)
        }

        /// Runs a command while a person answers dialogs.
        func run(_ arguments: String..., answering answers: PromptResponse...) async throws -> CommandResult {
            let prompter = try await FakePrompter(on: provider.bus, answers)
            let folder = URL(fileURLWithPath: KeychainDaemon.executable).deletingLastPathComponent().path
            let result = try await Command.run(
                folder + "/keychainctl",
                arguments,
                environment: provider.bus.environment
            )
            await prompter.crash()
            return result
        }

        func backUp() async throws {
            let result = try await run("backup")
            #expect(result.succeeded, "\(result.errors)")
        }

        func text(_ label: String) async throws -> String? {
            let items = try await login.search(["name": label])
            return try await items.first?.secret(prompting: .never).text
        }
    }

    private static let backup = "backup:login.keychain"

    @Test("A backup is made, listed and opens, and gives the whole keychain back")
    func backup_isRestored() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            #expect(try await fixture.run("restore").text.contains("There is no past state"))
            _ = try await fixture.add("one")
            try await fixture.backUp()
            let file = try #require(provider.dataHome) + "/keychaind/backup/login.keychain"
            #expect(FileManager.default.fileExists(atPath: file))
            _ = try await fixture.add("two")
            let list = try await fixture.run("restore").text
            #expect(list.contains("1 item  “Login”  \(Self.backup)"))
            #expect(try await fixture.run("backup", "list").text.contains(Self.backup))
            let result = try await fixture.run("restore", Self.backup, answering: .answer("wrong"), .answer("password"))
            #expect(result.succeeded, "\(result.errors)")
            #expect(try await fixture.login.isLocked())
            let prompter = try await provider.answerPrompts(.answer("password"))
            try await fixture.login.unlock()
            await prompter.crash()
            #expect(try await fixture.login.items().count == 1)
            // The state before the restore is there, too.
            let after = try await fixture.run("restore").text
            #expect(after.contains("2 items  “Login”  generation:login."))
        }
    }

    @Test("The difference names added, changed and removed items, and changes nothing")
    func diff_namesItems() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            _ = try await fixture.add("kept")
            let changed = try await fixture.add("changed\u{1B}[2J")
            let removed = try await fixture.add("removed")
            try await fixture.backUp()
            try await changed.setSecret(try Secret("second"))
            try await removed.delete()
            _ = try await fixture.add("added")
            let diff = try await fixture.run("restore", "--diff", Self.backup, answering: .answer("password"))
            let lines = ["added since  “added”", "changed since  “changed\\u{1b}[2J”", "removed since  “removed”"]
            #expect(diff.text == lines.map { $0 + "\n" }.joined(), "\(diff.errors)")
            #expect(try await fixture.text("changed\u{1B}[2J") == "second")
            let refused = try await fixture.run("restore", "--diff", Self.backup, answering: .cancel)
            #expect(refused.status == .exited(5), "\(refused.errors)")
        }
    }

    @Test("Single items come back by name, after the present state was kept")
    func item_comesBackByName() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            let changed = try await fixture.add("changed")
            let removed = try await fixture.add("removed")
            let other = try await fixture.add("other")
            try await fixture.backUp()
            for item in [changed, other] { try await item.setSecret(try Secret("second")) }
            try await removed.delete()
            let result = try await fixture.run(
                "restore",
                Self.backup,
                "--item",
                "changed",
                "--item",
                "removed",
                answering: .answer("password")
            )
            #expect(result.succeeded && result.text == "2 items are as they were then.\n", "\(result.errors)")
            #expect(try await fixture.text("changed") == "first changed")
            #expect(try await fixture.text("removed") == "first removed")
            #expect(try await fixture.text("other") == "second")
            let copies = try await fixture.run("restore").text
            #expect(copies.contains("2 items  “Login”  generation:login.keychain-past-"))
            let none = try await fixture.run(
                "restore",
                Self.backup,
                "--item",
                "never",
                answering: .answer("password")
            )
            #expect(none.status == .exited(3), "\(none.errors)")
        }
    }

    @Test("A copy takes no protection back: an item that was open then and is protected now stays")
    func item_protectedSince_stays() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            let item = try await fixture.add("bank")
            let gone = try await fixture.add("gone")
            try await fixture.backUp()
            for protected in [item, gone] {
                let name = protected == item ? "bank" : "gone"
                try await protected.setAttributes(["name": name, "keychain:access-control": "devicePasscode"])
            }
            let prompter = try await provider.answerPrompts(.answer("password"))
            try await gone.unlock()
            try await gone.delete()
            await prompter.crash()
            for name in ["bank", "gone"] {
                let result = try await fixture.run(
                    "restore",
                    Self.backup,
                    "--item",
                    name,
                    answering: .answer("password")
                )
                #expect(result.status == .exited(2), "\(name): \(result.text) \(result.errors)")
                #expect(result.errors.contains("not put back: “\(name)”"))
            }
            #expect(try await item.isLocked())
        }
    }

    @Test("What is no copy is refused")
    func copy_unknown_isNotFound() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            _ = try await fixture.add("one")
            try await fixture.backUp()
            for id in [
                "generation:../login.keychain", "backup:../../login.keychain", "generation:", "backup:none.keychain",
                "none",
            ] {
                #expect(try await fixture.run("restore", id).status == .exited(3), "\(id)")
                #expect(try await fixture.run("restore", "--diff", id).status == .exited(3), "\(id)")
            }
        }
    }

    @Test("Damage that a check has found is told, also if the check of a later file fails")
    func check_laterFileFails_tellsDamage() async throws {
        let home = try ImportHome()
        _ = try home.fakeProvider(files: ["keychain:a", "gone", "keychain:b"])
        let bus = try await PrivateBus()
        let fake = try await home.startFakeProvider(on: bus)
        let result = try await Command.run(ImportHome.executable, ["check"], environment: bus.environment)
        #expect(result.status == .exited(1) && result.errors == "keychainctl: it is gone\n", "\(result.errors)")
        #expect(result.text == "keychain:a: damaged; 1 of 2 items intact\n  a page is damaged\n")
        try await fake.terminate()
    }

    @Test("A password that nothing would read is wrong usage, and changes nothing")
    func passwordFD_withoutArchive_isWrongUsage() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            _ = try await fixture.add("one")
            try await fixture.backUp()
            let file = try #require(provider.dataHome) + "/keychaind/backup/login.keychain"
            for copy in [[], [Self.backup], [Self.backup, "--diff"], [file]] {
                let result = try await Command.run(
                    ImportHome.executable,
                    ["restore", "--password-fd", "0"] + copy,
                    environment: provider.bus.environment,
                    input: Array("password".utf8)
                )
                #expect(result.status == .exited(64), "\(copy): \(result.errors)")
            }
            #expect(try await !fixture.login.isLocked())
        }
    }

    @Test("Hostile files in the backup folder are left out, and a file that is no keychain is refused")
    func backups_hostile_areLeftOut() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            _ = try await fixture.add("one")
            try await fixture.backUp()
            let folder = try #require(provider.dataHome) + "/keychaind/backup"
            try Data("text".utf8).write(to: URL(fileURLWithPath: folder + "/text.keychain"))
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/link.keychain",
                withDestinationPath: folder + "/login.keychain"
            )
            mkfifo(folder + "/pipe.keychain", 0o600)
            try FileManager.default.createDirectory(atPath: folder + "/d.keychain", withIntermediateDirectories: false)
            let list = try await fixture.run("backup", "list").text
            #expect(list.split(separator: "\n").count == 1, "\(list)")
            #expect(try await fixture.run("restore", folder + "/text.keychain").status == .exited(9))
            #expect(try await fixture.run("restore", folder + "/pipe.keychain").status == .exited(9))
        }
    }

    @Test("The files of a named keychain are checked; one that has none is not found, however files are called")
    func check_named_needsFile() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let fixture = try await Fixture(provider)
            _ = try await fixture.add("one")
            let sound = try await fixture.run("check", "Login")
            #expect(sound.succeeded && sound.text.hasPrefix("keychain:login: 1 item"), "\(sound.errors)")
            for arguments in [["session"], ["Login", "session"]] {
                let none = try await Command.run(
                    ImportHome.executable,
                    ["check"] + arguments,
                    environment: provider.bus.environment
                )
                #expect(none.status == .exited(3) && none.output.isEmpty, "\(none.errors)")
                #expect(none.errors.contains("has no file"), "\(none.errors)")
            }
        }
        let home = try ImportHome()
        _ = try home.fakeProvider(files: ["keychain:.", "keychain:", ":", "", "..."])
        let bus = try await PrivateBus()
        let fake = try await home.startFakeProvider(on: bus)
        let hostile = try await Command.run(ImportHome.executable, ["check", "login"], environment: bus.environment)
        #expect(hostile.status == .exited(3), "\(hostile.errors)")
        try await fake.terminate()
    }
}
