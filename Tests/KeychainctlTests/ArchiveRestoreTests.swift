import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl export and restore with archives")
struct ArchiveRestoreTests {
    private static let password = Array("archive password".utf8)

    /// The answer of the fake provider that ends at its second batch of secrets.
    private static let dying = """
        return {item: (session, b'', b's', 'text/plain') for item in items} if len(calls) < 2 else os._exit(1)
        """

    @Test("A provider that dies during an export leaves no archive, and a former one stays", arguments: [false, true])
    func export_providerDies_leavesNoArchive(isThere: Bool) async throws {
        let home = try ImportHome()
        _ = try home.fakeProvider(Self.dying, count: 1000)
        let bus = try await PrivateBus()
        let provider = try await home.startFakeProvider(on: bus)
        _ = try home.folder.makeFolder("archives")
        if isThere { try home.folder.write("former", to: "archives/archive") }
        let result = try await keychainctl(["export", "--force", home.folder.path("archives/archive")], on: bus)
        #expect(result.status == .exited(8), "\(result.errors)")
        #expect(try await provider.waitForExit() == .exited(1))
        let left = try FileManager.default.contentsOfDirectory(atPath: home.folder.path("archives"))
        #expect(left == (isThere ? ["archive"] : []))
        if isThere {
            #expect(try String(contentsOfFile: home.folder.path("archives/archive"), encoding: .utf8) == "former")
        }
    }

    @Test("More items than one call reads, of another provider, come back into a keychain that is made for them")
    func restore_many_makesKeychain() async throws {
        let home = try ImportHome()
        _ = try home.fakeProvider(count: 1_100)
        let source = try await PrivateBus()
        let fake = try await home.startFakeProvider(on: source)
        let archive = home.folder.path("archive")
        let export = try await keychainctl(["export", archive], on: source)
        #expect(export.text.contains("1100 items of 1 keychain"), "\(export.errors)")
        try await fake.terminate()

        try await TestedProvider.keychaind.withProvider { provider in
            let refusing = try await provider.answerPrompts(.cancel)
            let refused = try await keychainctl(["restore", archive], on: provider.bus)
            #expect(refused.status == .exited(5), "\(refused.errors)")
            try await refusing.end()
            let prompter = try await provider.answerPrompts(.answer("new password"))
            let restored = try await keychainctl(["restore", archive], on: provider.bus)
            #expect(restored.text == "1100 items restored, 0 were there.\n", "\(restored.errors)")
            try await prompter.end()
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            var items: [SecretItem] = []
            for collection in try await client.collections() where try await collection.label() == "login" {
                items += try await collection.items()
            }
            #expect(items.count == 1_100)
            let again = try await keychainctl(["restore", archive], on: provider.bus)
            #expect(again.text == "0 items restored, 1100 were there.\n", "\(again.errors)")
        }
    }

    @Test("A restore that ends early says how many items are there")
    func restore_providerFails_isCounted() async throws {
        let home = try ImportHome()
        _ = try home.fakeProvider(count: 4)
        let source = try await PrivateBus()
        let full = try await home.startFakeProvider(on: source)
        let archive = home.folder.path("archive")
        let export = try await keychainctl(["export", archive], on: source)
        #expect(export.succeeded, "\(export.errors)")
        try await full.terminate()

        let other = try ImportHome()
        _ = try other.fakeProvider(count: 0, failingCreation: 3)
        let target = try await PrivateBus()
        let failing = try await other.startFakeProvider(on: target)
        let result = try await keychainctl(["restore", archive], on: target)
        #expect(result.status == .exited(2) && result.text.isEmpty, "\(result.errors)")
        #expect(result.errors == "keychainctl: 3 of 4 items are restored; then it ended: it is busy\n")
        try await failing.terminate()
    }

    @Test("--diff names what has changed; a restore gives back what is missing, and names what stays")
    func restore_archive_namesWhatStays() async throws {
        try await withArchive { fixture in
            let diff = try await keychainctl(["restore", "--diff", fixture.archive], on: fixture.bus)
            let lines = [
                "added since  “added”", "changed since  “changed\\u{1b}[2J”", "not compared  “guarded”",
                "removed since  “removed”",
            ].map { $0 + " in “Login”\n" }
            let text = diff.text.replacingOccurrences(of: "  (protected)", with: "")
            #expect(text == lines.joined(), "\(diff.errors)")
            #expect(try await fixture.text("changed") == "second")
            #expect(try await fixture.text("removed") == nil)
            let result = try await keychainctl(["restore", fixture.archive], on: fixture.bus)
            #expect(result.status == .exited(2), "\(result.errors)")
            #expect(result.text == "1 item restored, 1 were there.\n")
            let expected = [
                "left as it is, since it differs: “changed\\u{1b}[2J” in “Login”",
                "not compared, since it is protected: “guarded” in “Login”",
            ]
            let named = result.errors.split(separator: "\n").filter { !$0.hasPrefix("keychainctl: ") }
            #expect(named.map { String($0) } == expected)
        }
    }

    @Test("--item puts single items back after a backup; a protected one stays")
    func item_archive_comesBack() async throws {
        try await withArchive { fixture in
            let arguments = ["restore", fixture.archive, "--item", "changed\u{1B}[2J", "--item", "removed"]
            let mistyped = try await keychainctl(arguments + ["--item", "remove\u{1B}"], on: fixture.bus)
            #expect(mistyped.status == .exited(3) && mistyped.errors.contains("“remove\\u{1b}”"), "\(mistyped.errors)")
            #expect(try await fixture.text("removed") == nil)
            let result = try await keychainctl(arguments, on: fixture.bus)
            #expect(result.succeeded && result.text == "2 items are as they were then.\n", "\(result.errors)")
            #expect(try await fixture.text("changed") == "first changed")
            #expect(try await fixture.text("removed") == "first removed")
            #expect(try await fixture.text("added") == "first added")
            let copies = try await keychainctl(["backup", "list"], on: fixture.bus, input: [])
            #expect(copies.text.contains("backup:login.keychain"))

            let guarded = try await keychainctl(["restore", fixture.archive, "--item", "guarded"], on: fixture.bus)
            #expect(guarded.status == .exited(2), "\(guarded.errors)")
            #expect(guarded.errors.contains("not put back, since it is protected: “guarded” in “Login”"))
            for name in ["same", "never"] {
                let none = try await keychainctl(["restore", fixture.archive, "--item", name], on: fixture.bus)
                #expect(none.status == .exited(3), "\(name): \(none.errors)")
            }
        }
    }

    @Test("Nothing is put into one of two keychains of the same name")
    func restore_keychainsOfSameName_isAmbiguous() async throws {
        try await Controlled.with { controlled in
            var twins: [SecretCollection] = []
            for number in 1...2 {
                let twin = try await controlled.addKeychain("Twin")
                try await controlled.add("Mail", ["number": "\(number)"], to: twin)
                twins.append(twin)
            }
            let folder = try TemporaryFolder()
            let bus = controlled.provider.bus
            let export = try await keychainctl(["export", folder.path("archive")], on: bus)
            #expect(export.succeeded, "\(export.errors)")
            for options in [[], ["--diff"], ["--item=Mail"]] {
                let result = try await keychainctl(["restore", folder.path("archive")] + options, on: bus)
                #expect(result.status == .exited(11), "\(options): \(result.errors)")
                #expect(twins.allSatisfy { result.errors.contains($0.path) }, "\(options): \(result.errors)")
            }
            for twin in twins { #expect(try await twin.items().count == 1) }
        }
    }

    @Test("Where the provider keeps no copies, --item replaces nothing")
    func item_otherProvider_replacesNothing() async throws {
        try await TestedProvider.gnomeKeyring.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            // gnome-keyring gives items without a schema one when it reads its file again.
            let attributes = ["n": "1", "xdg:schema": "org.example.Test"]
            let item = try await login.createItem(label: "one", attributes: attributes, secret: try Secret("first"))
            let folder = try TemporaryFolder()
            let export = try await keychainctl(["export", folder.path("archive")], on: provider.bus)
            #expect(export.succeeded, "\(export.errors)")
            try await item.setSecret(try Secret("second"))
            let arguments = ["restore", folder.path("archive"), "--item", "one"]
            let refused = try await keychainctl(arguments, on: provider.bus)
            #expect(refused.status == .exited(7), "\(refused.errors)")
            #expect(try await item.secret().text == "second")
            try await item.delete()
            #expect(try await keychainctl(arguments, on: provider.bus).succeeded)
            let restored = try #require(try await login.search(["n": "1"]).first)
            #expect(try await restored.secret().text == "first")
        }
    }

    // MARK: A changed keychain

    private struct Fixture {
        let bus: PrivateBus
        let archive: String
        let login: SecretCollection

        func text(_ name: String) async throws -> String? {
            try await login.search(["name": name]).first?.secret(prompting: .never).text
        }
    }

    /// An archive, and a keychain whose items were added, changed, removed and protected since.
    private func withArchive(_ body: @Sendable (Fixture) async throws -> Void) async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            let add = { (label: String) in
                let name = String(label.prefix { $0 != "\u{1B}" })
                return try await login.createItem(
                    label: label,
                    attributes: ["name": name],
                    secret: try Secret("first \(name)")
                )
            }
            _ = try await add("same")
            let changed = try await add("changed\u{1B}[2J")
            let removed = try await add("removed")
            let guarded = try await add("guarded")
            let folder = try TemporaryFolder()
            let archive = folder.path("archive")
            let export = try await keychainctl(["export", archive], on: provider.bus)
            #expect(export.succeeded, "\(export.errors)")
            try await changed.setSecret(try Secret("second"))
            try await removed.delete()
            try await guarded.setAttributes(["name": "guarded", "keychain:access-control": "devicePasscode"])
            _ = try await add("added")
            _ = try await login.createItem(
                label: "of this device",
                attributes: ["keychain:accessible": "whenUnlockedThisDeviceOnly"],
                secret: try Secret("stays")
            )
            try await body(Fixture(bus: provider.bus, archive: archive, login: login))
        }
    }

    private func keychainctl(
        _ arguments: [String],
        on bus: PrivateBus,
        input: [UInt8] = password
    ) async throws -> CommandResult {
        let arguments = input.isEmpty ? arguments : [arguments[0], "--password-fd", "0"] + arguments.dropFirst()
        return try await Command.run(ImportHome.executable, arguments, environment: bus.environment, input: input)
    }
}
