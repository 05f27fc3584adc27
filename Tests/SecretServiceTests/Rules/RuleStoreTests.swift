import Foundation
import Glibc
import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// The rules that the user has made, and their file.
struct RuleStoreTests {
    private func file(of service: RunningService) -> String { service.daemon.dataHome + "/keychaind/rules" }

    @Test("a person sees the rules in words, authenticates, and the rules last")
    func add_list_remove() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            #expect(try await client.rules().isEmpty)
            let ids = try await client.addRules(
                "never  flatpak:org.example.Chat service=bank",
                "allow program:/usr/bin/git * until 2100-01-01"
            )
            let question = try #require(prompter.questions.all.last)
            #expect(question.type == "password" && question.wish == "add 2 rules")
            let story = try #require(question.text("description"))
            #expect(story.contains("The Flatpak “org.example.Chat” may never use items with service=bank."))
            #expect(story.contains("it cannot pretend to be another"))
            #expect(story.contains("another one can act through it"))
            #expect(
                try await client.addRules("never flatpak:org.example.Chat service=bank", "notify any *") == [
                    ids[0], "3",
                ]
            )
            let rules = [
                "never flatpak:org.example.Chat service=bank",
                "allow program:/usr/bin/git * until 2100-01-01T00:00:00Z",
                "notify any *",
            ]
            #expect(try await client.ruleTexts() == rules)
            #expect(try await client.rules().map(\.strength) == ["proven", "likely", ""])
            #expect(try await client.rules().allSatisfy { $0.origin == "user" && $0.uses == 0 && $0.last == 0 })
            try await service.daemon.restart()
            #expect(try await client.ruleTexts() == rules)
            #expect(try await client.removeRules(ids[0], "3").result == .strings([ids[0], "3"]))
            #expect(try await client.ruleTexts() == [rules[1]])
            // A number is not used again.
            #expect(try await client.addRules("notify any *") == ["4"])
        }
    }

    @Test("a refusal changes nothing, and neither does what is no rule")
    func add_refused() async throws {
        try await RunningService.withPrompter([.cancel]) { service, prompter in
            let client = service.client
            #expect(try await client.addRules("never any *").isEmpty)
            for (lines, reason) in [
                (["never any *", "maybe any *"], "rule 2"), (["never any *\nallow any *"], "control characters"),
                (["allow any service=a\u{1b}[2J"], "control characters"),
            ] {
                let error = try #require(await client.errorOfAdding(lines))
                #expect(error == BusError.invalidArgs && error.message.contains(reason))
            }
            await #expect(throws: BusError.noSuchObject) { _ = try await client.removeRules("1") }
            let reset = try await client.call(SecretServiceProxy.rules, SecretServiceProxy.rulesInterface, "Reset")
            #expect(try reset.read(ObjectPath.self) == ObjectPath.root)
            #expect(try await client.rules().isEmpty)
            #expect(prompter.questions.count == 1)
            #expect(!FileManager.default.fileExists(atPath: file(of: service)))
        }
    }

    @Test("a lenient rule does not hide among many")
    func add_many_showsLenientFirst() async throws {
        try await RunningService.withPrompter { service, prompter in
            var rules = (0..<40).map { "never any n=\($0)" }
            rules.insert("allow program:/tmp/evil *", at: 20)
            let prompt = try await service.client.call(
                SecretServiceProxy.rules,
                SecretServiceProxy.rulesInterface,
                "Add",
                rules
            ).read(ObjectPath.self)
            _ = try await service.client.complete(prompt)
            let story = try #require(prompter.questions.all.last?.text("description"))
            #expect(story.contains("The program “/tmp/evil” may use everything without being asked about it."))
            #expect(story.contains("And 35 more.") && story.contains("never: 35"))
        }
    }

    @Test("long rules do not push the widest out of the dialog, nor what a rule does")
    func add_long_showsWidestFirst() async throws {
        try await RunningService.withPrompter { service, prompter in
            let value = String(repeating: "v", count: 500)
            let long = (0..<5).map { "allow flatpak:org.example.Chat a=\(value) b\($0)=\(value)" }
            let script = "allow script:\"/\(String(repeating: "あ", count: 500))\" *"
            let prompt = try await service.client.call(
                SecretServiceProxy.rules,
                SecretServiceProxy.rulesInterface,
                "Add",
                long + ["allow any *", script]
            ).read(ObjectPath.self)
            _ = try await service.client.complete(prompt)
            let story = try #require(prompter.questions.all.last?.text("description"))
            let everything = "may use everything without being asked about it."
            #expect(story.hasPrefix("Every program \(everything)\nThe script “/ああ"))
            #expect(story.contains("あ…” \(everything)"))
            let shown = try #require(story.range(of: "\nAnd "))
            #expect(story[..<shown.lowerBound].utf8.count <= 400)
            #expect(story[shown.upperBound...].hasPrefix("5 more.\nallow: 5\n"))
        }
    }

    @Test("a prompter that shows one text shows the rules in it")
    func add_inKDE_showsTheRules() async throws {
        var options = KeychainDaemon.Options()
        options.arguments = ["--prompters", "kde"]
        options.environment = ["XDG_CURRENT_DESKTOP": "KDE"]
        try await RunningService.withService(options) { service in
            let prompter = try await FakeKDEPrompter(on: service.bus, [.reject])
            #expect(try await service.client.addRules("allow any *").isEmpty)
            let question = try #require(prompter.events.all.first)
            let rule = "wants to add 1 rule. Every program may use everything without being asked about it. – for "
            #expect(question.contains(rule), "\(question)")
            await prompter.crash()
        }
    }

    @Test("a value with words does not go on as the sentence")
    func add_words_areQuoted() async throws {
        try await RunningService.withPrompter { service, prompter in
            _ = try await service.client.addRules("allow any service=\"bank, and you are told. Nobody\"")
            let story = try #require(prompter.questions.all.last?.text("description"))
            #expect(
                story.hasPrefix("Every program may use items with “service=bank, and you are told. Nobody” without")
            )
        }
    }

    @Test("before the login keychain is unlocked, every read asks, as the rules are not known")
    func sealed_asks() async throws {
        try await RunningService.withPrompter { service, _ in
            try await service.client.addRules("notify any service=other")
            try await service.restartLocked()
            let client = try await service.makeClient()
            let session = try await client.openPlainSession()
            let collection = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/session")
            let item = try await client.createItem(in: collection, "x", ["a": "b"], secret: "s", session: session)
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            await #expect(throws: BusError.isLocked) { try await client.rules() }
            #expect(try await client.rulesProblem() == "the login keychain must be unlocked first")
            _ = try await service.unlock([.login], as: client)
            #expect(try await client.secretText(of: item, session: session) == "s")
            #expect(try await client.rulesProblem().isEmpty)
        }
    }

    @Test("with a damaged store every read asks, and the file stays until a person gives it up")
    func damaged_asks() async throws {
        try await RunningService.withPrompter { service, prompter in
            let setup = try await service.client.openPlainSession()
            let item = try await service.client.createItem("Bank", ["a": "b"], secret: "secret", session: setup)
            for damage in ["bit", "header", "empty", "short", "folder", "other"] {
                try await service.client.addRules("notify any service=other")
                _ = try await service.daemon.stop()
                let bytes = try self.damage(file(of: service), damage)
                try await service.daemon.start()
                let client = try await service.makeClient()
                let session = try await client.openPlainSession()
                await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
                _ = try await service.unlock([item], as: client)
                #expect(try await client.secretText(of: item, session: session) == "secret")
                #expect(try await !client.rulesProblem().isEmpty)
                await #expect(throws: BusError.isLocked) { _ = try await client.addRules("allow any *") }
                await #expect(throws: BusError.isLocked) { try await client.rules() }
                #expect(try bytes == nil || Data(contentsOf: URL(fileURLWithPath: file(of: service))) == bytes)
                #expect(try await client.resetRules().isDismissed == false, "\(damage)")
                #expect(prompter.questions.all.last?.wish == "give up the rules, which cannot be read")
                #expect(try await client.rules().isEmpty)
                try FileManager.default.removeItem(atPath: file(of: service) + ".unreadable")
                let other = try await service.makeClient()
                let otherSession = try await other.openPlainSession()
                #expect(try await other.secretText(of: item, session: otherSession) == "secret")
            }
        }
    }

    /// Damages a file, or puts a folder in its place, and returns the bytes that it has then.
    private func damage(_ path: String, _ damage: String) throws -> Data? {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        switch damage {
        case "bit": bytes[bytes.count - 20] ^= 1
        case "header": bytes[10] ^= 1
        case "empty": bytes = Data()
        case "short": bytes = bytes.dropLast(3)
        case "other": bytes = Data("KCHR\0\0\0\u{2}".utf8) + bytes.dropFirst(8)
        default:
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            return nil
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        return bytes
    }

    @Test("ten thousand rules are the most, and reads are as before")
    func tenThousand() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            func add(_ rules: [String]) async throws {
                let prompt = try await client.call(
                    SecretServiceProxy.rules,
                    SecretServiceProxy.rulesInterface,
                    "Add",
                    rules
                ).read(ObjectPath.self)
                _ = try await client.complete(prompt)
            }
            let actions = ["allow", "notify", "ask-once", "ask-always", "never"]
            try await add((0..<9999).map { "\(actions[$0 % 5]) any service=bank\($0)" })
            #expect(try await client.secretText(of: item, session: session) == "secret")
            try await add(["never any service=bank"])
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            await #expect(throws: BusError.limitsExceeded) { try await add(["never any *"]) }
            #expect(try await client.rules().count == 10_000)
            try await service.daemon.restart()
            let after = try await service.makeClient()
            let afterSession = try await after.openPlainSession()
            await #expect(throws: BusError.accessDenied) { try await after.secret(of: item, session: afterSession) }
        }
    }

    @Test("a test says what would be decided, and why")
    func test_explains() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            let gone = try await client.createItem("Gone", ["service": "gone"], secret: "secret", session: session)
            let ids = try await client.addRules(
                "ask-once any *",
                "allow program:/usr/bin/git service=bank",
                "never any item=\(gone.rawValue)"
            )
            let git = try await client.testRule("program:/usr/bin/git", item.rawValue)
            #expect(git.action == "allow" && git.id == ids[1] && git.rule == "allow program:/usr/bin/git service=bank")
            #expect(git.explanation.contains("another one can act through it"))
            let chain = try await client.testRule(
                "program:/usr/bin/git through program:/usr/bin/x in any",
                "service=bank"
            )
            #expect(chain.action == "ask-once" && chain.id == ids[0])
            #expect(try await client.testRule("", "collection=work").action == "ask-once")
            #expect(try await client.testRule(client.connection.uniqueName, gone.rawValue).action == "never")
            // A rule for an item that is gone decides nothing, and stays until it is removed.
            #expect(try await client.removeRules(ids[2]).isDismissed == false)
            _ = try await client.deleteItem(gone)
            #expect(try await client.addRules("never any item=\(gone.rawValue)").count == 1)
            #expect(try await client.testRule("any", "item=\(gone.rawValue)").action == "never")
            await #expect(throws: BusError.noSuchObject) { _ = try await client.testRule("any", gone.rawValue) }
            await #expect(throws: BusError.invalidArgs) { _ = try await client.testRule("git", "*") }
            await #expect(throws: BusError.invalidArgs) { _ = try await client.testRule("any", "bank") }
        }
    }
}
