import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl rules and sandboxes")
struct RulesCommandTests {
    private static let attribute = "keychain:access-control"

    @Test("What has been read becomes rules, whatever its label says")
    func learn_writesRulesOfWhatWasRead() async throws {
        try await Controlled.with { controlled in
            let empty = try await controlled.run("rules", "learn")
            #expect(empty.status == .exited(3), "\(empty.errors)")
            #expect(empty.text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
            let label = "Bank\nallow any *"
            let item = try await controlled.add(label, ["bank": "1\nallow any *", Self.attribute: "devicePasscode"])
            let read = try await controlled.run("get", "--id", "login/1", answering: .answer("password"))
            #expect(read.succeeded, "\(read.errors)")
            let learned = try await controlled.run("rules", "learn", "--since", "1h")
            #expect(learned.succeeded, "\(learned.errors)")
            let lines = learned.text.split(separator: "\n")
            let rules = lines.filter { !$0.hasPrefix("#") }
            #expect(rules.count == 1)
            #expect(rules.allSatisfy { $0.hasPrefix("allow program:") && $0.hasSuffix(" item=\(item.path)") })
            #expect(lines.contains { $0.contains("“Bank\\u{a}allow any *”, used 1 time") })
            #expect(try await controlled.run("rules", "learn", "--program", "nobody").status == .exited(3))
            #expect(try await controlled.run("rules", "learn", "--since", "yesterday").status == .exited(64))
        }
    }

    @Test("A day of use is learned, read and added; then each program has what it used, and the rest is asked about")
    func learn_aDay_isAccepted() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["service": "mail"], "letter")
            try await controlled.add("Bank", ["service": "bank"], "gold")
            let folder = try TemporaryFolder()
            let script = folder.path("script.py")
            let lines = """
                import gi, sys; gi.require_version("Secret", "1"); from gi.repository import Secret
                print(Secret.password_lookup_sync(None, {"service": sys.argv[1]}, None) or "", end="")
                """
            try Data(lines.utf8).write(to: URL(fileURLWithPath: script))
            func lookUp(_ program: String, _ service: String) async throws -> String {
                try await Command.run(
                    program == "script" ? "/usr/bin/python3" : program,
                    program == "script" ? [script, service] : ["lookup", "service", service],
                    environment: controlled.provider.bus.environment
                ).text
            }
            let everything = try await controlled.run("rules", "add", "allow any *", answering: .answer("password"))
            #expect(everything.succeeded, "\(everything.errors)")
            #expect(try await lookUp("secret-tool", "mail") == "letter")
            #expect(try await lookUp("script", "bank") == "gold")

            let learned = try await controlled.run("rules", "learn")
            #expect(learned.succeeded, "\(learned.errors)")
            // The person takes the last line in, which asks about the rest.
            var file = learned.text.split(separator: "\n").map(String.init)
            let rest = try #require(file.indices.last)
            #expect(file[rest] == "# ask-once any *")
            file[rest].removeFirst(2)
            let rules = file.filter { !$0.hasPrefix("#") }
            #expect(rules.contains { $0.hasPrefix("allow program:/usr/bin/secret-tool ") })
            #expect(rules.contains { $0.hasPrefix("allow script:\(script) ") })

            let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
            let added = try await controlled.run(
                ["rules", "add", "--file", "-"],
                input: Array(file.joined(separator: "\n").utf8)
            )
            #expect(added.succeeded, "\(added.errors)")
            #expect(try await controlled.run("rules", "remove", "1").succeeded)
            let listed = try await controlled.run("rules", "list")
            #expect(rules.allSatisfy { listed.text.contains($0) } && !listed.text.contains("allow any"))

            let count = prompter.questions.count
            #expect(try await lookUp("secret-tool", "mail") == "letter")
            #expect(try await lookUp("script", "bank") == "gold")
            #expect(prompter.questions.count == count)
            let test = ["rules", "test", "program:/usr/bin/secret-tool", "--id", "login/2"]
            #expect(try await controlled.run(test, input: []).text.hasPrefix("ask-once"))
            // Another item than it used: secret-tool unlocks it, and a person is asked.
            await prompter.answer(with: [.cancel])
            #expect(try await lookUp("secret-tool", "bank") == "")
            let question = try #require(prompter.questions.all.last)
            #expect(prompter.questions.count == count + 1 && question.wish == "use “Bank”")
            try await prompter.end()
        }
    }

    @Test("Rules that cannot be read are given up once a person has agreed, and the file is kept")
    func reset_ofDamagedRules() async throws {
        try await Controlled.with { controlled in
            let added = try await controlled.run("rules", "add", "never any n=1", answering: .answer("password"))
            #expect(added.succeeded, "\(added.errors)")
            let needless = try await controlled.run("rules", "reset")
            #expect(needless.status == .exited(3) && needless.errors.contains("nothing was changed"))

            let file = try #require(controlled.provider.dataHome) + "/keychaind/rules"
            let damaged = Data(try Data(contentsOf: URL(fileURLWithPath: file)).dropLast())
            try await controlled.provider.stop()
            try damaged.write(to: URL(fileURLWithPath: file))
            try await controlled.provider.start()
            let unreadable = try await controlled.run("rules")
            #expect(unreadable.status == .exited(9) && unreadable.errors.contains("keychainctl rules reset"))
            let refused = try await controlled.run("rules", "reset", answering: .cancel)
            #expect(refused.status == .exited(5), "\(refused.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == damaged)

            let reset = try await controlled.run("rules", "reset", answering: .answer("password"))
            #expect(reset.succeeded, "\(reset.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".unreadable")) == damaged)
            let listed = try await controlled.run("rules")
            #expect(listed.succeeded && !listed.text.contains("never any"))
        }
    }

    @Test("A list and an export say that a rule may hide items from keychainctl, which can remove the rule")
    func hide_isSaid() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["service": "bank"])
            let warning = "a rule may hide items from keychainctl"
            #expect(try await !controlled.run("list").errors.contains(warning))
            let rule = "hide any service=bank"
            let added = try await controlled.run("rules", "add", rule, answering: .answer("password"))
            #expect(added.succeeded, "\(added.errors)")
            let list = try await controlled.run("list")
            #expect(list.succeeded && !list.text.contains("Bank") && list.errors.contains(warning))
            let folder = try TemporaryFolder()
            let arguments = ["export", "--password-fd", "0", folder.path("archive")]
            let export = try await controlled.run(arguments, input: Array("of the archive\n".utf8))
            #expect(export.succeeded && export.errors.contains(warning), "\(export.errors)")
            let id = String(added.text.prefix { $0 != "\t" })
            #expect(try await controlled.run("rules", "remove", id, answering: .answer("password")).succeeded)
            #expect(try await controlled.run("list").text.contains("Bank"))
        }
    }

    @Test("Another provider has no rules and no sandboxes")
    func commands_withAnotherProvider_areRefused() async throws {
        try await Controlled.with(.gnomeKeyring) { controlled in
            for arguments in [
                ["rules"], ["rules", "add", "allow any *"], ["rules", "remove", "1"], ["rules", "reset"],
                ["rules", "test", "any", "*"],
                ["rules", "learn"], ["sandboxes"], ["sandboxes", "show", "snap:x"],
                ["sandboxes", "confirm", "snap:x", "--none"],
            ] {
                let result = try await controlled.run(arguments, input: [])
                #expect(result.status == .exited(7), "\(arguments): \(result.errors)")
                #expect(result.errors.split(separator: "\n").count == 1)
            }
        }
    }

    @Test("A file without rules, or that is no text, adds nothing")
    func add_badFile_saysWhy() async throws {
        try await Controlled.with { controlled in
            let add = ["rules", "add", "--file", "-"]
            #expect(try await controlled.run(add, input: Array("# one\n\n \t# two\r\n".utf8)).status == .exited(3))
            #expect(try await controlled.run(add, input: [0xff, 0xfe]).status == .exited(12))
            let missing = try await controlled.run(["rules", "add", "--file", "/nowhere\u{1B}"], input: [])
            #expect(missing.status == .exited(10) && missing.errors.contains("/nowhere\\u{1b}"))
        }
    }

    @Test("Ctrl-C ends the wait for rules from a pipe")
    func add_interrupted_ends() async throws {
        try await Controlled.with { controlled in
            let folder = try TemporaryFolder()
            let path = folder.path("rules")
            try #require(mkfifo(path, 0o600) == 0)
            let process = try ChildProcess(
                ImportHome.executable,
                ["rules", "add", "--file", path],
                environment: controlled.provider.bus.environment
            )
            var writer: Int32 = -1
            defer { close(writer) }
            // A pipe can be opened for writing only once it has a reader.
            try await eventually("a reader") {
                writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                return writer >= 0
            }
            process.send(SIGINT)
            #expect(try await process.waitForExit() == .exited(5))
            #expect(try await process.standardError.text() == "keychainctl: interrupted\n")
        }
    }
}
