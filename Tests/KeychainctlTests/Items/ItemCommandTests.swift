import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl with items")
struct ItemCommandTests {
    @Test("A secret comes back byte for byte", arguments: TestedProvider.allCases)
    func set_get_returnsSameBytes(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            for secret in ["word", "line\n", "a\0b\n", "", "\u{1B}[2J"] {
                let stored = try await controlled.run("set", "service=gh:github.com", "user=a=b", input: secret)
                #expect(stored.succeeded && stored.output.isEmpty, "\(stored.errors)")
                let read = try await controlled.run("get", "user=a=b", "--no-prompt")
                #expect(read.succeeded && read.output == Array(secret.utf8), "\(read.errors)")
            }
        }
    }

    @Test("A secret is replaced only where the attributes are the same", arguments: TestedProvider.allCases)
    func set_replacesSameAttributesOnly(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            try await controlled.add("Both", ["service": "mail", "user": "anna"], "kept")
            #expect(try await controlled.run("set", "service=mail", "--label", "One", input: "1").succeeded)
            #expect(try await controlled.run("set", "service=mail", input: "2").succeeded)
            #expect(try await controlled.text(["user": "anna"]) == "kept")
            let items = try await controlled.client.search(["service": "mail"]).all
            #expect(items.count == 2)
            let one = try await controlled.run("get", "--label", "One")
            #expect(one.text == "2", "\(one.errors)")
        }
    }

    @Test(
        "An ambiguous query lists the candidates, escaped, and a number names one",
        arguments: TestedProvider.allCases
    )
    func get_ambiguous_listsCandidates(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let first = try await controlled.add("One\u{1B}[2J\u{202E}", ["service": "mail", "user": "anna"], "first")
            try await controlled.add("Two", ["service": "mail", "user": "bob"], "second")
            let result = try await controlled.run("get", "service=mail")
            #expect(result.status == .exited(11) && result.output.isEmpty)
            #expect(result.errors.contains("One\\u{1b}[2J\\u{202e}") && result.errors.contains("user=bob"))
            let id = first.path.split(separator: "/").suffix(2).joined(separator: "/")
            #expect(result.errors.contains("--id \(id)"))
            #expect(try await controlled.run("get", "--id", id).text == "first")
            #expect(try await controlled.run("get", "--id", first.path).text == "first")
            #expect(try await controlled.run("get", "service=mail", "--label", "Two").text == "second")
        }
    }

    @Test("Lists show no secret unless asked, and nothing that acts on a terminal", arguments: TestedProvider.allCases)
    func list_isEscapedAndWithoutSecrets(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            try await controlled.add("Evil\u{1B}[2J\n", ["na\u{202E}me": "\u{9B}31m\"\\"], "hidden\u{1B}")
            for arguments in [["list"], ["list", "--json"], ["search", "--text", "EVIL"]] {
                let result = try await controlled.run(arguments, input: [])
                #expect(result.succeeded && !result.text.contains("hidden"), "\(result.errors)")
                #expect(!result.text.contains("\u{1B}") && !result.text.contains("\u{202E}"))
                #expect(!result.text.contains("\u{9B}"))
            }
            let json = try await controlled.run("list", "--json", "--show-secrets")
            let object = try JSONSerialization.jsonObject(with: Data(json.output))
            let items = try #require(object as? [[String: Any]])
            #expect(items.count == 1 && items[0]["secret"] as? String == "hidden\u{1B}")
            #expect(items[0]["label"] as? String == "Evil\u{1B}[2J\n")
            // gnome-keyring may add a schema, which it has set by then or not.
            let attributes = items[0]["attributes"] as? [String: String] ?? [:]
            #expect(attributes.filter { $0.key != "xdg:schema" } == ["na\u{202E}me": "\u{9B}31m\"\\"])
            let text = try await controlled.run("list", "--show-secrets")
            #expect(text.text.hasSuffix("\t\"hidden\\u001b\"\n"))
        }
    }

    @Test("A secret in a list or in JSON cannot act on a terminal, and is read as it is")
    func list_showSecrets_escapesSecrets() async throws {
        try await Controlled.with { controlled in
            let secret = "\u{9B}2J\u{202E}\u{2028}\u{E0001}\u{7F}ü\"\\😀"
            try await controlled.add("Evil", ["a": "b"], secret)
            let escaped: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator]
            for arguments in [
                ["list", "--show-secrets"], ["list", "--show-secrets", "--json"], ["get", "a=b", "--json"],
            ] {
                let result = try await controlled.run(arguments, input: [])
                #expect(result.succeeded && result.text.contains("\\u009b2J\\u202e"), "\(result.errors)")
                let rest = result.text.unicodeScalars.filter { $0 != "\n" && $0 != "\t" }
                #expect(!rest.contains(where: { escaped.contains($0.properties.generalCategory) }))
            }
            let json = try await controlled.run("get", "a=b", "--json")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
            #expect(object["secret"] as? String == secret)
        }
    }

    @Test("An empty list is empty; a search without a result is not found")
    func search_nothing_isNotFound() async throws {
        try await Controlled.with { controlled in
            let list = try await controlled.run("list")
            #expect(list.succeeded && list.output.isEmpty)
            #expect(try await controlled.run("list", "--json").text == "[]\n")
            #expect(try await controlled.run("search", "a=b").status == .exited(3))
            #expect(try await controlled.run("get", "a=b").status == .exited(3))
            #expect(try await controlled.run("list", "--keychain", "None\u{1B}").status == .exited(3))
            #expect(try await controlled.run("get", "--id", "../x").status == .exited(3))
        }
    }

    @Test("More items than one call reads are all listed, from either provider", arguments: TestedProvider.allCases)
    func list_many_isComplete(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let count = kind == .keychaind ? 1100 : 150
            for number in 0..<count { try await controlled.add("Item \(number)", ["number": "\(number)"]) }
            let lines = try await controlled.run("list").text.split(separator: "\n")
            #expect(lines.count == count && Set(lines.map { $0.split(separator: "\t")[1] }).count == count)
        }
    }

    // MARK: Locked

    @Test("A protected item asks; without a prompt it is locked, and a dismissal is a cancellation")
    func get_protected_asks() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["bank": "1", "keychain:access-control": "devicePasscode"], "gold")
            let refused = try await controlled.run("get", "bank=1", "--no-prompt")
            #expect(refused.status == .exited(4) && refused.output.isEmpty)
            let dismissed = try await controlled.run("get", "bank=1", answering: .cancel)
            #expect(dismissed.status == .exited(5) && dismissed.output.isEmpty, "\(dismissed.errors)")
            let given = try await controlled.run("get", "bank=1", answering: .answer("wrong"), .answer("password"))
            #expect(given.succeeded && given.text == "gold", "\(given.errors)")
            #expect(try await controlled.run("list").text.contains("\tprotected\t"))
        }
    }

    @Test("A dialog that cannot be shown is a cancellation, for a protected item and for a locked keychain")
    func get_withoutPrompter_isCancelled() async throws {
        let bus = try await PrivateBus()
        var options = KeychainDaemon.Options()
        options.arguments = ["--prompters=none"]
        let daemon = try await KeychainDaemon(on: bus, options)
        let client = try await SecretClient.connect(.init(bus: .address(bus.address)))
        let login = try #require(try await client.defaultCollection())
        let attributes = ["bank": "1", "keychain:access-control": "devicePasscode"]
        try await login.createItem(label: "Bank", attributes: attributes, secret: try Secret("gold"))
        for command in ["get", "lock", "get"] {
            let arguments = command == "get" ? ["get", "bank=1"] : [command]
            let result = try await Command.run(ImportHome.executable, arguments, environment: bus.environment)
            #expect(result.status == .exited(command == "get" ? 5 : 0), "\(command): \(result.errors)")
            #expect(result.output.isEmpty)
        }
        try await daemon.stop()
    }

    @Test("The label of an item in a locked keychain is compared once the keychain is open")
    func get_labelInLockedKeychain_unlocks() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"], "letter")
            try await controlled.provider.restartLocked()
            #expect(try await controlled.run("get", "--label", "Mail", "--no-prompt").status == .exited(4))
            #expect(try await controlled.run("search", "--text", "mail").status == .exited(4))
            let result = try await controlled.run("get", "--label", "Mail", answering: .answer("password"))
            #expect(result.text == "letter", "\(result.errors)")
        }
    }

    @Test("A search unlocks what it finds, also by a label that was hidden, and asks about nothing else")
    func search_unlock_isForWhatIsFound() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"])
            try await controlled.add("Bank", ["bank": "1", "keychain:access-control": "devicePasscode"])
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.cancel])
            let text = try await controlled.run("search", "--text", "mail", "--unlock")
            #expect(text.succeeded && text.text.contains("\tMail\t"), "\(text.errors)")
            #expect(prompter.questions.count == 0)
            try await prompter.end()
            try await controlled.provider.restartLocked()
            let search = ["search", "--label", "Mail"]
            #expect(try await controlled.run(search, input: []).status == .exited(4))
            let person = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
            let label = try await controlled.run(search + ["--unlock"], input: [])
            #expect(label.succeeded && label.text.contains("\tMail\t"), "\(label.errors)")
            #expect(!label.text.contains("Bank") && person.questions.count == 1)
            try await person.end()
        }
    }

    @Test("Ctrl-C ends a prompt that nobody answers, and dismisses its dialog")
    func get_interrupted_dismissesPrompt() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["bank": "1", "keychain:access-control": "devicePasscode"])
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.hang])
            let process = try ChildProcess(
                ImportHome.executable,
                ["get", "bank=1"],
                environment: controlled.provider.bus.environment
            )
            _ = try await prompter.questions.first("the dialog")
            process.send(SIGINT)
            #expect(try await process.waitForExit() == .exited(5))
            #expect(try await process.standardOutput.bytes().isEmpty)
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
        }
    }

    @Test("A provider that dies during a prompt ends the command with its own status")
    func get_providerDies_isNoProvider() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["bank": "1", "keychain:access-control": "devicePasscode"])
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.hang])
            let process = try ChildProcess(
                ImportHome.executable,
                ["get", "bank=1"],
                environment: controlled.provider.bus.environment
            )
            _ = try await prompter.questions.first("the dialog")
            try await controlled.provider.kill()
            #expect(try await process.waitForExit() == .exited(8))
        }
    }

    @Test("Without a bus or a provider the status and the message say so")
    func list_withoutBus_isNoProvider() async throws {
        for address in ["unix:path=/nonexistent/bus", "nonsense:"] {
            let result = try await Command.run(
                ImportHome.executable,
                ["list"],
                environment: ["DBUS_SESSION_BUS_ADDRESS": address]
            )
            #expect(result.status == .exited(8) && result.errors.split(separator: "\n").count == 1)
            #expect(result.errors.hasPrefix("keychainctl: the session bus cannot be reached: "), "\(result.errors)")
        }
        let bus = try await PrivateBus()
        let result = try await Command.run(ImportHome.executable, ["list"], environment: bus.environment)
        #expect(result.status == .exited(8), "\(result.errors)")
        #expect(result.errors.hasPrefix("keychainctl: no provider runs, "), "\(result.errors)")
    }

    @Test("Programs that unlock themselves are not asked for at a read")
    func noPrompt_withAskAtRead_asksNobody() async throws {
        let folder = try ConfigurationFolder("[access]\nask-at-read = \"*\"\n")
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            let session = try await service.client.openPlainSession()
            let attributes = ["bank": "1", "keychain:access-control": "devicePasscode"]
            _ = try await service.client.createItem("Bank", attributes, secret: "kept", session: session)
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let client = try await SecretClient.connect(.init(bus: .address(service.bus.address)))
            let item = try #require(try await client.search(["bank": "1"]).all.first)
            await #expect { _ = try await item.secret(prompting: .never) } throws: { error in
                (error as? SecretServiceError)?.code == .locked
            }
            try await client.forEachSecret(of: [item]) { item, _ in Issue.record("\(item.path) was read") }
            #expect(prompter.questions.count == 0)
            #expect(try await item.secret().text == "kept")
            #expect(prompter.questions.count == 1)
            try await prompter.end()
        }
    }
}
