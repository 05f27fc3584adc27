import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl with protection, the audit and past states")
struct ProtectionCommandTests {
    private static let attribute = "keychain:access-control"

    @Test("Stored items are protected together, and the audit says who has used them")
    func protect_many_saysWhoUsedThem() async throws {
        try await Controlled.with { controlled in
            for user in ["anna", "bob"] { try await controlled.add(user, ["bank": "1", "user": user]) }
            #expect(try await controlled.run("protect", "bank=1").status == .exited(11))
            let result = try await controlled.run("protect", "bank=1", "--all", "--with", "devicePasscode")
            #expect(result.succeeded, "\(result.errors)")
            #expect(result.text.split(separator: "\n").count == 2 && result.text.contains("only protected items"))
            #expect(try await controlled.run("get", "user=anna", "--no-prompt").status == .exited(4))
            #expect(try await controlled.run("get", "user=anna", answering: .answer("password")).text == "secret")
            let again = try await controlled.run("protect", "user=anna", "--with", "devicePasscode")
            #expect(again.text.contains("asks already") && again.text.contains("Used by"), "\(again.errors)")
        }
    }

    @Test("Taking protection off asks once for all items, and a dismissal changes nothing")
    func unprotect_asksOnce() async throws {
        try await Controlled.with { controlled in
            for user in ["anna", "bob"] {
                try await controlled.add(user, ["bank": "1", "user": user, Self.attribute: "devicePasscode"])
            }
            let refused = try await controlled.run("unprotect", "bank=1", "--all", answering: .cancel)
            #expect(refused.status == .exited(5), "\(refused.errors)")
            #expect(try await controlled.run("get", "user=bob", "--no-prompt").status == .exited(4))
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
            let result = try await controlled.run("unprotect", "bank=1", "--all")
            #expect(result.succeeded, "\(result.errors)")
            #expect(prompter.questions.all.count == 1)
            #expect(try await controlled.run("get", "user=bob", "--no-prompt").text == "secret")
        }
    }

    @Test("Attributes that another program changes during the dialog stay changed")
    func protect_attributesChangeMeanwhile_areKept() async throws {
        try await Controlled.with { controlled in
            let item = try await controlled.add("anna", ["bank": "1", "user": "anna"])
            try await controlled.add("bob", ["bank": "1", "user": "bob", Self.attribute: "devicePasscode"])
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.hang])
            async let protection = controlled.run("protect", "bank=1", "--all", "--with", "userPresence")
            let question = try await prompter.questions.first("the dialog")
            try await item.setAttributes(["bank": "1", "user": "anna", "branch": "2"])
            await prompter.answer(with: [.answer("password")])
            await prompter.respond(.answer("password"), to: question)
            let result = try await protection
            #expect(result.succeeded, "\(result.errors)")
            #expect(try await item.attributes()["branch"] == "2")
            #expect(try await item.attributes()[Self.attribute] == "userPresence")
            try await prompter.end()
        }
    }

    @Test("An access control that is wrong, or cannot be in this keychain, changes nothing")
    func protect_impossible_changesNothing() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            let item = try await controlled.add("Bank", ["bank": "1"], to: second)
            for expression in ["nonsense", "privateKeyUsage", ""] {
                #expect(try await controlled.run("protect", "bank=1", "--with", expression).status == .exited(64))
            }
            let refused = try await controlled.run("protect", "bank=1", "--with", "userPresence")
            #expect(refused.status == .exited(7), "\(refused.errors)")
            #expect(try await item.attributes()[Self.attribute] == nil)
        }
    }

    @Test("A change of protection that is refused half way says how far it came")
    func protect_refusedHalfWay_isCounted() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            let first = try await controlled.add("Mail", ["bank": "1", "number": "1"])
            let other = try await controlled.add("Bank", ["bank": "1", "number": "2"], to: second)
            // Only the keychain of the login takes it.
            let result = try await controlled.run("protect", "bank=1", "--all", "--with", "userPresence")
            #expect(result.status == .exited(2), "\(result.errors)")
            let words = "keychainctl: 1 of 2 items is changed; it ended at “Bank”: "
            #expect(result.errors.hasPrefix(words), "\(result.errors)")
            #expect(try await first.attributes()[Self.attribute] == "userPresence")
            #expect(try await other.attributes()[Self.attribute] == nil)
        }
    }

    @Test("The audit is filtered by item, program and time")
    func audit_isFiltered() async throws {
        try await Controlled.with { controlled in
            let attributes = ["bank": "1", Self.attribute: "devicePasscode"]
            let item = try await controlled.add("Bank", attributes)
            _ = try await controlled.run("get", "bank=1", "--no-prompt")
            _ = try await controlled.run("get", "bank=1", answering: .answer("password"))
            func kinds(_ arguments: String...) async throws -> [String] {
                let result = try await controlled.run(["audit", "--json"] + arguments, input: [])
                return try result.text.split(separator: "\n").map { line in
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    return object?["kind"] as? String ?? ""
                }
            }
            #expect(try await kinds("bank=1", "--program", "KEYCHAINCTL").contains("release"))
            #expect(try await kinds("--id", item.path, "--since", "1h").contains("release"))
            #expect(try await kinds("--id", "login/99").isEmpty)
            #expect(try await kinds("--program", "nobody").isEmpty)
            #expect(try await kinds("--since", "2999-01-01 00:00").isEmpty)
            #expect(try await kinds("--limit", "1").count == 1)
            #expect(try await controlled.run("audit", "--since", "yesterday").status == .exited(64))
        }
    }

    @Test("A list with secrets asks for none that is locked, which would be a denial in the audit")
    func list_withSecrets_leavesLockedItemsAlone() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["bank": "1", Self.attribute: "devicePasscode"], "guarded")
            try await controlled.add("Mail", ["service": "mail"], "open")
            let list = try await controlled.run("list", "--show-secrets")
            #expect(list.text.contains("\t\"open\"\n") && list.text.contains("login/1\tBank\t"), "\(list.errors)")
            #expect(!list.text.contains("guarded"))
            let audit = try await controlled.run("audit", "--json")
            #expect(audit.succeeded && !audit.text.contains("denial"), "\(audit.text)")
        }
    }

    @Test("Following the audit shows an entry that comes later, until Ctrl-C")
    func audit_follow_showsNewEntries() async throws {
        try await Controlled.with { controlled in
            let process = try ChildProcess(
                ImportHome.executable,
                ["audit", "--follow", "--json"],
                environment: controlled.provider.bus.environment
            )
            try await controlled.add("Bank", ["bank": "1", Self.attribute: "devicePasscode"])
            _ = try await process.standardOutput.lines.first("an entry") { $0.contains("access-control-change") }
            process.send(SIGINT)
            #expect(try await process.waitForExit() == .exited(5))
        }
    }

    @Test("A past secret of an item comes back, also if the item was deleted")
    func history_restores() async throws {
        try await Controlled.with { controlled in
            let item = try await controlled.add("Mail", ["service": "mail"], "old")
            #expect(try await controlled.run("backup").succeeded)
            try await item.setSecret(try Secret("new"))
            let list = try await controlled.run("history", "service=mail", "--json")
            #expect(list.text.contains("\"copy\": \"backup:login.keychain\""), "\(list.errors)")
            let state = "backup:login.keychain"
            let compared = try await controlled.run(
                "history",
                "service=mail",
                "--compare",
                state,
                answering: .answer("password")
            )
            #expect(compared.text.contains("“Mail” was different then"), "\(compared.errors)")
            let put = ["history", "--label", "Mail", "--restore", state]
            for isDeleted in [false, true] {
                if isDeleted { try await item.delete() }
                let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password")])
                let restored = try await controlled.run(put, input: [])
                await prompter.crash()
                #expect(restored.succeeded, "\(restored.errors)")
                #expect(try await controlled.text(["service": "mail"]) == "old")
            }
            #expect(try await controlled.run("history", "service=mail", "--restore", "none").status == .exited(3))
        }
    }

    @Test("A comparison is shown although the next one fails, and none is made where a state does not exist")
    func history_comparisonFails_keepsTheOthers() async throws {
        try await Controlled.with { controlled in
            let item = try await controlled.add("Mail", ["service": "mail"], "old")
            #expect(try await controlled.run("backup").succeeded)
            try await item.setSecret(try Secret("new"))
            let state = "backup:login.keychain"
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.answer("password"), .cancel])
            func compare(_ states: String...) async throws -> CommandResult {
                let comparisons = states.flatMap { state in ["--compare", state] }
                return try await controlled.run(["history", "service=mail"] + comparisons, input: [])
            }
            #expect(try await compare(state, "none").status == .exited(3))
            #expect(prompter.questions.count == 0)
            let halfway = try await compare(state, state)
            #expect(halfway.status == .exited(5) && halfway.text.contains("“Mail” was different then"))
            try await prompter.end()
        }
    }

    @Test("An item does not come back alone where others have its label")
    func history_labelOfOthers_isRefused() async throws {
        try await Controlled.with { controlled in
            let anna = try await controlled.add("Mail", ["user": "anna"], "old")
            let bob = try await controlled.add("Mail", ["user": "bob"], "old")
            #expect(try await controlled.run("backup").succeeded)
            for item in [anna, bob] { try await item.setSecret(try Secret("new")) }
            let refused = try await controlled.run("history", "user=anna", "--restore", "backup:login.keychain")
            #expect(refused.status == .exited(7) && refused.errors.contains("come back only together"))
            #expect(try await controlled.text(["user": "bob"]) == "new")
        }
    }

    @Test("An item of a keychain that has not been unlocked comes back")
    func history_lockedKeychain_restores() async throws {
        try await Controlled.with { controlled in
            let item = try await controlled.add("Mail", ["service": "mail"], "old")
            #expect(try await controlled.run("backup").succeeded)
            try await item.setSecret(try Secret("new"))
            try await controlled.provider.restartLocked()
            let restored = try await controlled.run(
                "history",
                "--id",
                "login/1",
                "--restore",
                "backup:login.keychain",
                answering: .answer("password")
            )
            #expect(restored.succeeded && restored.text.hasPrefix("“Mail” is as in the state"), "\(restored.errors)")
            #expect(try await controlled.run("get", "service=mail").text == "old")
        }
    }

    @Test("What only keychaind can do says so with another provider")
    func otherProvider_isRefused() async throws {
        try await Controlled.with(.gnomeKeyring) { controlled in
            try await controlled.add("Mail", ["a": "b"])
            for arguments in [
                ["protect", "a=b"], ["unprotect", "a=b"], ["audit"], ["slot"], ["slot", "add", "--tpm"],
                ["history", "a=b"], ["restore"], ["backup"],
            ] {
                let result = try await controlled.run(arguments, input: [])
                #expect(result.status == .exited(7), "\(arguments): \(result.errors)")
                #expect(result.errors.contains("not keychaind"), "\(arguments): \(result.errors)")
            }
        }
    }
}
