import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl copy")
struct CopyCommandTests {
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
}
