import Foundation
import KeychaindArchive
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl export", .lockedPool)
struct ExportTests {
    @Test("An archive has every item of every provider", arguments: TestedProvider.allCases)
    func export_anyProvider_hasAllItems(kind: TestedProvider) async throws {
        try await kind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            for number in 0..<250 {
                try await login.createItem(
                    label: "Item \(number)",
                    attributes: ["number": "\(number)", "xdg:schema": "org.example"],
                    secret: try Secret("secret \(number)")
                )
            }
            try await login.createItem(label: "", attributes: [:], secret: try Secret([0, 255, 10]))
            let folder = try TemporaryFolder()
            let result = try await export(["--password-fd", "0", folder.path("archive")], on: provider.bus)
            #expect(result.succeeded, "\(result.errors)")
            #expect(result.text.contains("251 items of 1 keychain"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["archive"])
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("archive"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let items = try ExportedItem.all(in: folder.path("archive"))
            #expect(items.count == 251)
            #expect(Set(items.map(\.secret)).count == 251)
            let first = try #require(items.first { $0.label == "Item 7" })
            #expect(first.secret == Array("secret 7".utf8))
            #expect(first.attributes["number"] == "7" && first.attributes["xdg:schema"] == "org.example")
        }
    }

    @Test("A keychain whose attributes are too large for one answer is exported")
    func export_largeAttributes_hasAllItems() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            // Together more than the 8 MiB of one answer.
            let large = String(repeating: "a", count: 240 << 10)
            for number in 0..<40 {
                try await login.createItem(
                    label: "Item \(number)",
                    attributes: ["number": "\(number)", "large": large],
                    secret: try Secret("secret \(number)")
                )
            }
            let folder = try TemporaryFolder()
            let result = try await export(["--password-fd", "0", folder.path("archive")], on: provider.bus)
            #expect(result.succeeded, "\(result.errors)")
            let items = try ExportedItem.all(in: folder.path("archive"))
            #expect(items.count == 40 && items.allSatisfy { $0.attributes["large"] == large })
        }
    }

    @Test("An archive gives missing items back, once, and leaves those alone that differ")
    func archive_restored_addsMissingItems() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            var items: [SecretItem] = []
            for name in ["same", "differs", "gone"] {
                items.append(
                    try await login.createItem(label: name, attributes: ["n": name], secret: try Secret("first"))
                )
            }
            let folder = try TemporaryFolder()
            let archive = folder.path("archive")
            #expect(try await export(["--password-fd", "0", archive], on: provider.bus).succeeded)
            try await items[1].setSecret(try Secret("second"))
            try await items[2].delete()
            for (created, same) in [(1, 1), (0, 2)] {
                let result = try await run(["restore", "--password-fd", "0", archive], on: provider.bus)
                #expect(result.status == .exited(2), "\(result.errors)")
                #expect(result.text == "\(created) item\(created == 1 ? "" : "s") restored, \(same) were there.\n")
                #expect(result.errors.contains("left as it is, since it differs: “differs” in “Login”"))
            }
            let gone = try #require(try await login.search(["n": "gone"]).first)
            #expect(try await gone.secret().text == "first")
            #expect(try await items[1].secret().text == "second")
            let wrong = try await Command.run(
                Self.program,
                ["restore", "--password-fd", "0", archive],
                environment: provider.bus.environment,
                input: Array("wrong".utf8)
            )
            #expect(wrong.status == .exited(6), "\(wrong.errors)")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: archive))
            try bytes.dropLast(1).write(to: URL(fileURLWithPath: archive))
            try await gone.delete()
            let cut = try await run(["restore", "--password-fd", "0", archive], on: provider.bus)
            #expect(cut.status == .exited(9), "\(cut.errors)")
            #expect(try await login.search(["n": "gone"]).isEmpty)
        }
    }

    @Test("Items of this device stay behind, protected ones too if they are to, and are named with escaped labels")
    func export_itemsThatStay_areNamed() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            try await login.createItem(label: "plain", attributes: ["a": "1"], secret: try Secret("p"))
            try await login.createItem(
                label: "stays\u{1B}[31m",
                attributes: ["a": "2", "keychain:accessible": "whenUnlockedThisDeviceOnly"],
                secret: try Secret("d")
            )
            try await login.createItem(
                label: "asks",
                attributes: ["a": "3", "keychain:access-control": "devicePasscode"],
                secret: try Secret("a")
            )
            let folder = try TemporaryFolder()
            let arguments = ["--password-fd", "0", "--without-protected", folder.path("without")]
            let without = try await export(arguments, on: provider.bus)
            #expect(without.succeeded, "\(without.errors)")
            #expect(without.errors.contains("“stays\\u{1b}[31m” in “Login”: it may not leave this computer"))
            #expect(without.errors.contains("“asks” in “Login”: it is protected"))
            #expect(try ExportedItem.all(in: folder.path("without")).map(\.label) == ["plain"])

            let prompter = try await provider.answerPrompts(.answer("password"))
            let with = try await export(["--password-fd", "0", folder.path("with")], on: provider.bus)
            #expect(with.succeeded, "\(with.errors)")
            #expect(prompter.questions.count == 1)
            #expect(try ExportedItem.all(in: folder.path("with")).map(\.label) == ["plain", "asks"])
            try await prompter.end()

            let refusing = try await provider.answerPrompts(.cancel)
            let cancelled = try await export(["--password-fd", "0", folder.path("cancelled")], on: provider.bus)
            #expect(cancelled.status == .exited(5), "\(cancelled.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path("cancelled")))
            try await refusing.end()
        }
    }

    @Test("Unencrypted items are JSON, and take a second yes")
    func export_plain_takesASecondYes() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            try await login.createItem(label: "q\"\n", attributes: ["ü": "\\"], secret: try Secret("s\u{7}e"))
            try await login.createItem(label: "binary", attributes: [:], secret: try Secret([0, 255, 1, 254]))
            let folder = try TemporaryFolder()
            let refused = try await withoutTerminal(["--plain", folder.path("json")], on: provider.bus)
            #expect(refused.status == .exited(7), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path("json")))
            let done = try await withoutTerminal(["--plain", "--confirm-plain", folder.path("json")], on: provider.bus)
            #expect(done.succeeded, "\(done.errors)")
            let data = try Data(contentsOf: URL(fileURLWithPath: folder.path("json")))
            let export = try JSONDecoder().decode(PlainExport.self, from: data)
            let items = try #require(export.keychains.first?.items)
            #expect(items.map(\.label) == ["q\"\n", "binary"])
            #expect(items[0].secret == "s\u{7}e" && items[0].attributes["ü"] == "\\")
            #expect(items[1].secretBase64 == Data([0, 255, 1, 254]).base64EncodedString())
        }
    }

    @Test("An existing file, a link, a folder and a missing folder are refused, and left alone")
    func export_badTarget_isRefused() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let folder = try TemporaryFolder()
            try folder.write("mine", to: "file")
            _ = try folder.makeFolder("folder")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("link"),
                withDestinationPath: folder.path("file")
            )
            let cases: [(arguments: [String], status: Int32)] = [
                ([folder.path("file")], 7), ([folder.path("link")], 7), (["--force", folder.path("link")], 7),
                (["--force", folder.path("folder")], 7), ([folder.path("none/file")], 3), ([folder.path("none/")], 7),
            ]
            for (arguments, status) in cases {
                let result = try await export(["--password-fd", "0"] + arguments, on: provider.bus)
                #expect(result.status == .exited(status), "\(arguments): \(result.errors)")
            }
            #expect(try String(contentsOfFile: folder.path("file"), encoding: .utf8) == "mine")
            let forced = try await export(["--password-fd", "0", "--force", folder.path("file")], on: provider.bus)
            #expect(forced.succeeded, "\(forced.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(left == ["file", "folder", "link"])
        }
    }

    @Test("Secrets that together are too large for one answer are all exported")
    func export_largeSecrets_areWritten() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            let large = [UInt8](repeating: 1, count: 15 << 20)
            for name in ["a", "b", "c", "d"] {
                try await login.createItem(label: name, attributes: ["name": name], secret: try Secret(large))
            }
            let folder = try TemporaryFolder()
            let result = try await export(["--password-fd", "0", folder.path("archive")], on: provider.bus)
            #expect(result.succeeded, "\(result.errors)")
            let items = try ExportedItem.all(in: folder.path("archive"))
            #expect(items.map(\.label).sorted() == ["a", "b", "c", "d"])
            #expect(items.allSatisfy { $0.secret.count == large.count })
        }
    }

    @Test("A full disk leaves nothing behind")
    func export_diskFull_leavesNothing() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let client = try await SecretClient.connect(.init(bus: .address(provider.bus.address)))
            let login = try #require(try await client.collection(alias: "login"))
            try await login.createItem(
                label: "large",
                attributes: [:],
                secret: try Secret([UInt8](repeating: 1, count: 1 << 20))
            )
            let folder = try TemporaryFolder()
            // A limit of the file size fails in the same place, without a file system of its own. The thread sanitizer
            // makes a file of 512 KiB for itself.
            let line =
                "trap '' XFSZ; ulimit -f 600; exec \(Self.program) export --password-fd 0 \(folder.path("archive"))"
            let result = try await Command.run(
                "bash",
                ["-c", line],
                environment: provider.bus.environment,
                input: Array("archive password".utf8)
            )
            #expect(result.status == .exited(10), "\(result.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("A terminal is asked twice for the password, without echo; Ctrl-C leaves nothing behind")
    func export_terminal_asksTwice() async throws {
        try await TestedProvider.keychaind.withProvider { provider in
            let folder = try TemporaryFolder()
            let terminal = try TestTerminal()
            let line = "\(Self.program) export \(folder.path("archive"))"
            let first = try terminal.run(line, environment: provider.bus.environment)
            try await terminal.waitFor("Password for the archive: ")
            #expect(!terminal.echoes)
            terminal.type("archive password\r")
            try await terminal.waitFor("Repeat the password: ")
            terminal.type("archive password\r")
            #expect(try await first.waitForExit() == .success)
            #expect(try ExportedItem.all(in: folder.path("archive")).isEmpty)
            let second = try terminal.run(line + "2", environment: provider.bus.environment)
            try await terminal.waitFor("Password for the archive: ")
            terminal.type("\u{3}")
            #expect(try await second.waitForExit() == .exited(5))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["archive"])
        }
    }

    @Test("Ctrl-C at the question about unencrypted secrets leaves nothing behind")
    func export_plain_interrupted_leavesNothing() async throws {
        let bus = try await PrivateBus()
        let folder = try TemporaryFolder()
        let terminal = try TestTerminal()
        let line = "exec \(Self.program) export --plain \(folder.path("json"))"
        let export = try terminal.run(line, environment: bus.environment)
        try await terminal.waitFor("will know all your secrets")
        terminal.type("\u{3}")
        #expect(try await export.waitForExit() == .exited(5))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("Without a provider nothing is written")
    func export_withoutProvider_fails() async throws {
        let bus = try await PrivateBus()
        let folder = try TemporaryFolder()
        let result = try await export(["--password-fd", "0", folder.path("archive")], on: bus)
        #expect(result.status == .exited(8), "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    private static var program: String {
        URL(fileURLWithPath: KeychainDaemon.executable).deletingLastPathComponent().path + "/keychainctl"
    }

    private func export(_ arguments: [String], on bus: PrivateBus) async throws -> CommandResult {
        try await run(["export"] + arguments, on: bus)
    }

    private func run(_ arguments: [String], on bus: PrivateBus) async throws -> CommandResult {
        try await Command.run(
            Self.program,
            arguments,
            environment: bus.environment,
            input: Array("archive password\n".utf8)
        )
    }

    private func withoutTerminal(_ arguments: [String], on bus: PrivateBus) async throws -> CommandResult {
        try await Command.run("setsid", ["--wait", Self.program, "export"] + arguments, environment: bus.environment)
    }
}

/// An item of an archive whose password is `archive password`.
private struct ExportedItem {
    let label: String
    let attributes: [String: String]
    let secret: [UInt8]

    static func all(in path: String) throws -> [ExportedItem] {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let password = try SecureBytes(copying: Array("archive password".utf8))
        var reader = try ArchiveReader(from: file.fileDescriptor, password: password)
        var items: [ExportedItem] = []
        while let item = try reader.next() {
            let secret = item.secret.withUnsafeBytes { Array($0) }
            items.append(ExportedItem(label: item.label, attributes: item.attributes, secret: secret))
        }
        return items
    }
}

private struct PlainExport: Decodable {
    struct Keychain: Decodable {
        let label: String
        let items: [Item]
    }

    struct Item: Decodable {
        enum CodingKeys: String, CodingKey {
            case label, attributes, secret
            case secretBase64 = "secret-base64"
        }

        let label: String
        let attributes: [String: String]
        let secret: String?
        let secretBase64: String?
    }

    let keychains: [Keychain]
}
