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

    @Test("Another provider has no rules and no sandboxes")
    func commands_withAnotherProvider_areRefused() async throws {
        try await Controlled.with(.gnomeKeyring) { controlled in
            for arguments in [
                ["rules"], ["rules", "add", "allow any *"], ["rules", "remove", "1"], ["rules", "test", "any", "*"],
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

    @Test(
        "Wrong usage is said before anybody is asked",
        arguments: [
            ["rules", "add"], ["rules", "add", "allow", "any", "*"], ["rules", "add", "allow any *", "--file", "x"],
            ["rules", "remove"], ["rules", "test", "any"], ["rules", "test", "any", "bank"],
            ["rules", "test", "any", "a=b", "--id", "login/1"], ["sandboxes", "show"],
            ["sandboxes", "confirm", "snap:x", "--none", "--id", "login/1"],
        ]
    )
    func arguments_wrong_areUsage(arguments: [String]) async throws {
        let result = try await Command.run(
            ImportHome.executable,
            arguments,
            environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
        )
        #expect(result.status == .exited(64), "\(result.errors)")
    }
}
