import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl with items")
struct ItemCommandTests {
    @Test(
        "A secret comes back byte for byte",
        arguments: TestedProvider.allCases,
        ["word", "line\n", "a\0b\n", "", "\u{1B}[2J"]
    )
    func set_get_returnsSameBytes(kind: TestedProvider, secret: String) async throws {
        try await Controlled.with(kind) { controlled in
            let stored = try await controlled.run("set", "service=gh:github.com", "user=a=b", input: secret)
            #expect(stored.succeeded && stored.output.isEmpty, "\(stored.errors)")
            let read = try await controlled.run("get", "user=a=b", "--no-prompt")
            #expect(read.succeeded && read.output == Array(secret.utf8), "\(read.errors)")
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
            let count = kind == .keychaind ? 2100 : 150
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

    // MARK: Changes

    @Test("Label, attributes and secret are changed, and nothing else", arguments: TestedProvider.allCases)
    func edit_changesWhatIsNamed(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let item = try await controlled.add("Old", ["service": "mail", "user": "anna"], "old")
            let edit = ["edit", "service=mail", "--new-label", "New", "--attribute", "user=bob", "--remove", "service"]
            let result = try await controlled.run(edit + ["--secret"], input: Array("new".utf8))
            #expect(result.succeeded, "\(result.errors)")
            let properties = try await item.properties()
            #expect(properties.label == "New" && properties.attributes["user"] == "bob")
            #expect(properties.attributes["service"] == nil)
            #expect(try await controlled.text(of: item) == "new")
            #expect(try await controlled.run("edit", "user=bob", "--remove", "none").status == .exited(3))
        }
    }

    @Test("A protected item is changed after one dialog")
    func edit_protected_asksOnce() async throws {
        try await Controlled.with { controlled in
            let attributes = ["bank": "1", "keychain:access-control": "devicePasscode"]
            try await controlled.add("Bank", attributes, "gold")
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
            let edit = ["edit", "bank=1", "--new-label", "Safe", "--attribute", "bank=2", "--secret"]
            let result = try await controlled.run(edit, input: Array("silver".utf8))
            #expect(result.succeeded, "\(result.errors)")
            // One to read what the item is, one for all changes.
            #expect(prompter.questions.all.count <= 2)
            try await prompter.end()
            let read = try await controlled.run("get", "bank=2", answering: .answer("password"))
            #expect(read.text == "silver", "\(read.errors)")
        }
    }

    @Test("One item is deleted, or all that are found if wanted", arguments: TestedProvider.allCases)
    func delete_all_needsFlag(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            for user in ["anna", "bob", "carl"] { try await controlled.add(user, ["service": "mail", "user": user]) }
            #expect(try await controlled.run("delete", "service=mail").status == .exited(11))
            #expect(try await controlled.run("delete", "user=anna").succeeded)
            #expect(try await controlled.login.items().count == 2)
            #expect(try await controlled.run("delete", "service=mail", "--all").succeeded)
            #expect(try await controlled.login.items().isEmpty)
        }
    }

    @Test("A deletion that fails half way says how far it came", arguments: [(0, 1), (1, 2), (2, 2)])
    func delete_all_failsHalfWay_isCounted(failing: Int, status: Int) async throws {
        let home = try ImportHome()
        _ = try home.fakeProvider(count: 4, undeletable: "/i/\(failing)")
        let bus = try await PrivateBus()
        let provider = try await home.startFakeProvider(on: bus)
        let delete = ["delete", "--label", "one", "--all"]
        let result = try await Command.run(ImportHome.executable, delete, environment: bus.environment)
        #expect(result.status == .exited(Int32(status)), "\(result.errors)")
        let done = ["", "1 of 4 items is deleted", "2 of 4 items are deleted"][failing]
        let message = done.isEmpty ? "it is busy" : "\(done); it ended at “one”: it is busy"
        #expect(result.errors == "keychainctl: \(message)\n")
        try await provider.terminate()
    }

    @Test("All items with a label are also those of keychains that were not opened since the start")
    func delete_allWithLabel_opensKeychains() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            for keychain in [controlled.login, second] {
                try await controlled.add("Mail", ["service": "mail"], to: keychain)
            }
            try await controlled.provider.restartLocked()
            let open = try await controlled.run("unlock", "Login", "--password-fd", "0", input: "password")
            #expect(open.succeeded, "\(open.errors)")
            let refused = try await controlled.run("delete", "--label", "Mail", "--all", "--no-prompt")
            #expect(refused.status == .exited(4), "\(refused.errors)")
            #expect(try await controlled.login.items().count == 1)
            let result = try await controlled.run("delete", "--label", "Mail", "--all", answering: .answer("second"))
            #expect(result.succeeded && result.errors.contains("2 items are deleted."), "\(result.errors)")
            for keychain in [controlled.login, second] { #expect(try await keychain.items().isEmpty) }
        }
    }

    @Test("Copies that are refused half way are counted, and what is there stays")
    func copy_all_refusedHalfWay_isCounted() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            try await controlled.add("Plain", ["bank": "1", "number": "1"])
            // Only the keychain of the login takes it.
            let attributes = ["bank": "1", "number": "2", "keychain:access-control": "userPresence"]
            try await controlled.add("Bank", attributes)
            let copy = ["copy", "bank=1", "--all", "--to", "Second"]
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
            let result = try await controlled.run(copy, input: [])
            await prompter.crash()
            #expect(result.status == .exited(2), "\(result.errors)")
            let words = "keychainctl: 1 of 2 items is copied; it ended at “Bank”: "
            #expect(result.errors.hasPrefix(words), "\(result.errors)")
            #expect(try await second.items().count == 1)
        }
    }

    @Test("A copy has the attributes, times and secret of its original, and overwrites nothing")
    func copy_keepsEverything() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            let original = try await controlled.add("Mail", ["service": "mail"], "letter")
            let result = try await controlled.run("copy", "service=mail", "--to", "Second")
            #expect(result.succeeded, "\(result.errors)")
            let copy = try #require(try await second.items().first)
            #expect(try await copy.properties() == original.properties())
            #expect(try await controlled.text(of: copy) == "letter")
            let again = try await controlled.run("copy", "service=mail", "--keychain", "Login", "--to", "Second")
            #expect(again.status == .exited(7), "\(again.errors)")
            try await original.setSecret(try Secret("new"))
            let replaced = try await controlled.run(
                "copy",
                "--id",
                original.path,
                "--to",
                "Second",
                "--replace"
            )
            #expect(replaced.succeeded, "\(replaced.errors)")
            #expect(try await controlled.text(of: copy) == "new")
        }
    }

    @Test("An item is copied at either provider", arguments: TestedProvider.allCases)
    func copy_anyProvider_isThere(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let made = try await controlled.run("collection", "create", "Second", "--password-fd", "0", input: "second")
            #expect(made.succeeded, "\(made.errors)")
            try await controlled.add("Mail", ["service": "mail"], "letter")
            let result = try await controlled.run("copy", "service=mail", "--to", "Second")
            #expect(result.succeeded, "\(result.errors)")
            let copy = try await controlled.run("get", "service=mail", "--keychain", "Second")
            #expect(copy.text == "letter", "\(copy.errors)")
        }
    }

    @Test("A copy replaces an item with the same attributes, and no other", arguments: TestedProvider.allCases)
    func copy_replace_isForSameAttributes(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let made = try await controlled.run("collection", "create", "Second", "--password-fd", "0", input: "second")
            #expect(made.succeeded, "\(made.errors)")
            let add = ["set", "service=mail", "user=anna", "--keychain", "Second"]
            #expect(try await controlled.run(add, input: Array("kept".utf8)).succeeded)
            let original = try await controlled.add("Mail", ["service": "mail"], "letter")
            for secret in ["letter", "new"] {
                try await original.setSecret(try Secret(secret))
                let result = try await controlled.run("copy", "--id", original.path, "--to", "Second", "--replace")
                #expect(result.succeeded, "\(result.errors)")
                let copy = try await controlled.run("get", "--label", "Mail", "--keychain", "Second")
                #expect(copy.text == secret, "\(copy.errors)")
            }
            #expect(try await controlled.text(["user": "anna"]) == "kept")
        }
    }

    @Test("Copies of items with the same attributes do not replace each other")
    func copy_replace_twins_areBothThere() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            for secret in ["one", "two"] { try await controlled.add("Mail", ["service": "mail"], secret) }
            let result = try await controlled.run("copy", "service=mail", "--all", "--to", "Second", "--replace")
            #expect(result.succeeded, "\(result.errors)")
            #expect(try await second.items().count == 2)
        }
    }

    @Test("Items that differ in their schema alone each replace their own copy")
    func copy_replace_schemas_areToldApart() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            for schema in ["org.example.Mail", "org.example.News"] {
                try await controlled.add(schema, ["service": "mail", "xdg:schema": schema])
            }
            let copy = ["copy", "service=mail", "--all", "--keychain", "Login", "--to", "Second", "--replace"]
            for _ in 0..<2 {
                let result = try await controlled.run(copy, input: [])
                #expect(result.succeeded, "\(result.errors)")
                #expect(try await second.items().count == 2)
            }
        }
    }

    // MARK: The terminal

    @Test("A terminal types a secret twice without echo, and gets it with a newline")
    func terminal_setAndGet() async throws {
        try await Controlled.with { controlled in
            let terminal = try TestTerminal()
            let environment = controlled.provider.bus.environment
            let set = try terminal.run("exec \(ImportHome.executable) set a=b", environment: environment)
            try await terminal.waitFor("Secret: ")
            #expect(!terminal.echoes)
            terminal.type("typed\r")
            try await terminal.waitFor("Repeat the secret: ")
            terminal.type("typed\r")
            #expect(try await set.waitForExit() == .success)
            let get = try terminal.run("\(ImportHome.executable) get a=b; echo end", environment: environment)
            try await terminal.waitFor("typed\r\nend")
            #expect(try await get.waitForExit() == .success)
        }
    }

    @Test("What another program does with an item while its secret is typed stays", arguments: TestedProvider.allCases)
    func terminal_set_keepsChangesOfOthers(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let item = try await controlled.add("Mail", ["service": "mail"])
            for service in ["mail", "news"] {
                let terminal = try TestTerminal()
                let line = "exec \(ImportHome.executable) set service=\(service)"
                let set = try terminal.run(line, environment: controlled.provider.bus.environment)
                try await terminal.waitFor("Secret: ")
                if service == "mail" {
                    try await item.setLabel("Post")
                } else {
                    try await controlled.add("News", ["service": "news"])
                }
                terminal.type("typed\r")
                try await terminal.waitFor("Repeat the secret: ")
                terminal.type("typed\r")
                #expect(try await set.waitForExit() == .success)
                let items = try await controlled.client.search(["service": service]).all
                #expect(items.count == 1)
                #expect(try await items.first?.label() == (service == "mail" ? "Post" : "News"))
                #expect(try await controlled.text(["service": service]) == "typed")
            }
        }
    }

    @Test("A secret that the terminal has cut is not stored")
    func terminal_setLong_isRefused() async throws {
        try await Controlled.with { controlled in
            let terminal = try TestTerminal()
            let line = "exec \(ImportHome.executable) set a=b"
            let set = try terminal.run(line, environment: controlled.provider.bus.environment)
            try await terminal.waitFor("Secret: ")
            terminal.type(String(repeating: "x", count: 5000) + "\r")
            try await terminal.waitFor("a terminal cuts a line of this length")
            #expect(try await set.waitForExit() == .exited(7))
            #expect(try await controlled.login.items().isEmpty)
        }
    }

    @Test("Attributes that another program changes while a secret is typed stay changed")
    func terminal_edit_keepsChangesOfOthers() async throws {
        try await Controlled.with { controlled in
            let item = try await controlled.add("Mail", ["service": "mail", "user": "anna"])
            let terminal = try TestTerminal()
            let line = "exec \(ImportHome.executable) edit service=mail --attribute port=993 --secret"
            let edit = try terminal.run(line, environment: controlled.provider.bus.environment)
            try await terminal.waitFor("Secret: ")
            try await item.setAttributes(["service": "mail", "user": "bob"])
            terminal.type("typed\r")
            try await terminal.waitFor("Repeat the secret: ")
            terminal.type("typed\r")
            #expect(try await edit.waitForExit() == .success)
            let attributes = try await item.attributes()
            #expect(attributes["user"] == "bob" && attributes["port"] == "993")
            #expect(try await controlled.text(of: item) == "typed")
        }
    }

    @Test("A secret that could act on a terminal is not written to one")
    func terminal_harmfulSecret_isRefused() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Evil", ["a": "b"], "\u{1B}]0;owned\u{7}")
            let terminal = try TestTerminal()
            let get = try terminal.run(
                "exec \(ImportHome.executable) get a=b",
                environment: controlled.provider.bus.environment
            )
            try await terminal.waitFor("could act on the terminal")
            #expect(try await get.waitForExit() == .exited(7))
        }
    }

    @Test("A table fits a terminal of twenty columns")
    func terminal_narrow_fits() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("A label that is much longer than the terminal is wide", ["a": "b"])
            let terminal = try TestTerminal()
            let list = try terminal.run(
                "stty cols 20; \(ImportHome.executable) list | cat; NO_COLOR=1 \(ImportHome.executable) list; echo end",
                environment: controlled.provider.bus.environment
            )
            try await terminal.waitFor("ID       LABEL\r\nlogin/1  A label th…\r\nend")
            #expect(try await list.waitForExit() == .success)
        }
    }

    @Test("A closed pipe ends quietly, as it ends other commands")
    func list_closedPipe_endsQuietly() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["a": "b"])
            let script = """
                import os, subprocess, sys
                for disposition in (True, False):
                    reader, writer = os.pipe()
                    os.close(reader)
                    result = subprocess.run([sys.argv[1], "list"], stdout=writer, stderr=subprocess.PIPE,
                                            restore_signals=disposition)
                    os.close(writer)
                    assert result.returncode == -13, result
                    assert result.stderr == b"", result
                """
            let result = try await Command.python(
                script,
                [ImportHome.executable],
                environment: controlled.provider.bus.environment
            )
            #expect(result.succeeded, "\(result.errors)")
        }
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
