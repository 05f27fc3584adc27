import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl edit and delete")
struct ChangeCommandTests {
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
}
