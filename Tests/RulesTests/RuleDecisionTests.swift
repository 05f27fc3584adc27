import KeychaindModel
import KeychaindRules
import Testing

/// The decision, and the order of rules.
struct RuleDecisionTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private static func identity(_ text: String) throws -> ProgramIdentity {
        try #require(ProgramIdentity(text))
    }

    /// The callers of the table.
    private static func caller(_ name: String) throws -> RuleCaller? {
        func claim(_ text: String, _ strength: Strength, needed: Strength? = nil) throws -> IdentityClaim {
            let identity = try identity(text)
            return IdentityClaim(identity, strength, needed: needed ?? identity.kind.strength)
        }
        switch name {
        case "chat": return RuleCaller([try claim("flatpak:org.example.Chat", .proven)])
        case "claimed chat": return RuleCaller([try claim("flatpak:org.example.Chat", .said)])
        case "git": return RuleCaller([try claim("program:/usr/bin/git", .likely)])
        case "preloaded git": return RuleCaller([try claim("program:/usr/bin/git", .said)])
        case "own": return RuleCaller([try claim("program:/home/a/tool", .said, needed: .said)])
        case "script":
            return RuleCaller([
                try claim("script:/home/a/run.py", .said),
                try claim("program:/usr/bin/python3", .said, needed: .likely),
            ])
        case "git through secret-tool":
            return RuleCaller(
                [try claim("program:/usr/bin/secret-tool", .likely)],
                for: try identity("program:/usr/bin/git"),
                in: try identity("program:/usr/bin/xterm")
            )
        case "nobody": return RuleCaller([])
        default: return nil
        }
    }

    private static let bank = RuleSubject(
        ItemID(rawValue: 5)!,
        in: .login,
        with: ["service": "bank", "user": "ann", "xdg:schema": "generic"]
    )

    private static let bankPath = "/org/freedesktop/secrets/collection/login/5"

    @Test(
        "the rules decide",
        arguments: [
            // Without a rule that is about program and item, as ever.
            ([], "git", "allow", nil),
            (["never program:/usr/bin/curl *"], "git", "allow", nil),
            (["never any service=mail"], "git", "allow", nil),
            (["never any service=bank user=bob"], "git", "allow", nil),
            (["never any collection=work"], "git", "allow", nil),
            (["never any item=/org/freedesktop/secrets/collection/login/6"], "git", "allow", nil),
            (["never any item=\(bankPath) service=mail"], "git", "allow", nil),
            // What a rule says is a condition, all of it.
            (["never any service=bank user=ann"], "git", "never", 0),
            (["ask-once any collection=login"], "git", "ask-once", 0),
            (["ask-always any item=\(bankPath)"], "git", "ask-always", 0),
            (["notify any item=\(bankPath) service=bank collection=login"], "git", "notify", 0),
            (["never any xdg:schema=generic"], "git", "never", 0),
            // A rule that says more about the program wins, and one that says more about the item.
            (["ask-once any *", "allow program:/usr/bin/git *"], "git", "allow", 1),
            (["allow program:/usr/bin/git *", "ask-once any *"], "git", "allow", 0),
            (["never any *", "allow any service=bank"], "git", "allow", 1),
            (["never any service=bank", "allow any service=bank user=ann"], "git", "allow", 1),
            (["never any service=bank", "allow any service=bank collection=login"], "git", "allow", 1),
            (["never any service=bank user=ann", "allow any item=\(bankPath)"], "git", "allow", 1),
            (["ask-once program:/usr/bin/python3 *", "notify script:/home/a/run.py *"], "script", "notify", 1),
            // Where two say more about different things, and where two say as much, the stricter one.
            (["allow program:/usr/bin/git *", "ask-once any service=bank"], "git", "ask-once", 1),
            (["ask-always any service=bank", "never program:/usr/bin/git *"], "git", "never", 1),
            (["allow any service=bank", "never any service=bank"], "git", "never", 1),
            (["never any service=bank", "allow any user=ann"], "git", "never", 0),
            (["ask-once any *", "ask-always any *", "notify any *", "allow any *"], "git", "ask-always", 1),
            (["hide any *", "allow program:/usr/bin/git *"], "git", "allow", 1),
            (["never any service=bank", "hide any service=bank"], "git", "hide", 1),
            (["hide any service=bank", "allow program:/usr/bin/git *"], "git", "hide", 0),
            // Chains.
            (["never program:/usr/bin/git *"], "git through secret-tool", "allow", nil),
            (["never program:/usr/bin/secret-tool *"], "git through secret-tool", "never", 0),
            (["never program:/usr/bin/git through any *"], "git through secret-tool", "never", 0),
            (["never program:/usr/bin/git through any *"], "git", "allow", nil),
            (["never any through program:/usr/bin/secret-tool in any *"], "git through secret-tool", "never", 0),
            (["never any in program:/usr/bin/xterm *"], "git through secret-tool", "never", 0),
            (["never any in program:/usr/bin/xterm *"], "git", "allow", nil),
            (
                [
                    "ask-once program:/usr/bin/secret-tool *",
                    "allow program:/usr/bin/git through program:/usr/bin/secret-tool *",
                ],
                "git through secret-tool", "allow", 1
            ),
            // Weak evidence counts against the program, not in its favour.
            (["ask-once any *", "allow flatpak:org.example.Chat *"], "chat", "allow", 1),
            (["ask-once any *", "allow flatpak:org.example.Chat *"], "claimed chat", "ask-once", 0),
            (["never flatpak:org.example.Chat *"], "claimed chat", "never", 0),
            (["ask-once any *", "notify program:/usr/bin/git *"], "preloaded git", "ask-once", 0),
            (["ask-once any *", "allow program:/home/a/tool *"], "own", "allow", 1),
            (["never program:/home/a/tool *"], "nobody", "allow", nil),
            (["ask-always any *"], "nobody", "ask-always", 0),
            // A caller that cannot be seen may be any program.
            (["allow program:/usr/bin/git *", "ask-once any *"], "unseen", "ask-once", 1),
            (["never flatpak:org.example.Chat service=bank"], "unseen", "never", 0),
            (["never any service=bank", "allow any item=\(bankPath)"], "unseen", "never", 0),
            (["notify any *"], "unseen", "notify", 0),
            (["hide program:/usr/bin/curl *"], "unseen", "hide", 0),
            (["notify program:/usr/bin/git *"], "unseen", "allow", nil),
            // Rules end.
            (["never any * until 2027-01-01"], "git", "allow", nil),
            (["never any * until 2027-01-15T08:00:01Z"], "git", "never", 0),
            (["never any * until 2027-01-15T08:00:00Z"], "git", "allow", nil),
        ] as [([String], String, String, Int?)]
    )
    func decision(rules: [String], caller: String, action: String, decider: Int?) throws {
        let entries = try rules.enumerated().map { RuleEntry(try Rule($1), id: "\($0)", from: .user) }
        let selection = RuleSet(entries).selection(for: try Self.caller(caller), at: Self.now)
        let decision = selection.decision(on: Self.bank)
        #expect(decision.action.rawValue == action)
        #expect(decision.entry?.id == decider.map(String.init))
        // The order of addition decides nothing but which of two equal rules is named.
        let reversed = RuleSet(entries.reversed()).selection(for: try Self.caller(caller), at: Self.now)
        #expect(reversed.decision(on: Self.bank).action == decision.action)
    }

    @Test(
        "of the administrators' rules and the user's, the stricter decides",
        arguments: [
            ("allow any item=\(bankPath)", "ask-once any *", "ask-once"),
            ("never any *", "allow any item=\(bankPath)", "never"),
            ("ask-always any *", "notify any service=bank", "ask-always"),
            ("allow program:/usr/bin/git item=\(bankPath)", "never any *", "never"),
        ]
    )
    func administrators_cannotBeLoosened(user: String, administrator: String, action: String) throws {
        let set = RuleSet([
            RuleEntry(try Rule(user), id: "user", from: .user),
            RuleEntry(try Rule(administrator), id: "file:1", from: .administrator(place: "file:1")),
        ])
        let decision = set.selection(for: try Self.caller("git"), at: Self.now).decision(on: Self.bank)
        #expect(decision.action.rawValue == action)
    }

    @Test(
        "a rule of a dialog stands in for the access control of its item, unless another one forbids that",
        arguments: [
            ("chat", [], true),
            ("chat", ["ask-always flatpak:org.example.Chat item=\(bankPath)"], true),
            ("chat", ["never any *"], false),
            ("chat", ["admin ask-once any *"], false),
            ("chat", ["admin allow any *"], true),
            ("claimed chat", [], false),
            ("git", [], false),
            ("unseen", [], false),
        ]
    )
    func always_loosens(caller: String, others: [String], loosens: Bool) throws {
        let always = try Rule("allow flatpak:org.example.Chat item=\(Self.bankPath)")
        let entries = try others.map { text in
            let isAdministrators = text.hasPrefix("admin ")
            let rule = try Rule(isAdministrators ? String(text.dropFirst(6)) : text)
            return RuleEntry(rule, id: text, from: isAdministrators ? .administrator(place: "f:1") : .user)
        }
        let set = RuleSet(entries + [RuleEntry(always, id: "always", from: .always)])
        let selection = set.selection(for: try Self.caller(caller), at: Self.now)
        #expect((selection.decision(on: Self.bank).always != nil) == loosens)
        let other = RuleSubject(ItemID(rawValue: 6)!, in: .login, with: [:])
        #expect(selection.decision(on: other).always == nil)
    }

    @Test("ten thousand rules, all about the same item, are decided at once")
    func decision_manyRules() throws {
        let rules = try (0..<10_000).map { number in
            let action = RuleAction.allCases[number % 4]
            let rule = try Rule("\(action.rawValue) any service=bank\(number % 3 == 0 ? " user=ann" : "")")
            return RuleEntry(rule, id: "\(number)", from: .user)
        }
        let selection = RuleSet(rules).selection(for: try Self.caller("git"), at: Self.now)
        #expect(selection.decision(on: Self.bank).entry?.id == "3")
    }

    @Test("a selection ends with the first of its rules")
    func selection_ends() throws {
        let rules = [
            "allow any * until 2028-01-01", "never any service=x until 2027-06-01", "never any * until 2020-01-01",
        ]
        let entries = try rules.map { RuleEntry(try Rule($0), id: $0, from: .user) }
        let selection = RuleSet(entries).selection(for: nil, at: Self.now)
        #expect(selection.end == RuleTime.parse("2027-06-01"))
    }
}
