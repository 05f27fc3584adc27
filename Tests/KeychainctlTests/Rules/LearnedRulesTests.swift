import SecretServiceClient
import Testing
import keychainctl

/// Rules from entries of the audit.
struct LearnedRulesTests {
    @Test(
        "a program of the audit has the identity of rules",
        arguments: [
            ("Flatpak org.example.Mail", "sandbox-file", "flatpak:org.example.Mail", "proven"),
            ("Snap firefox", "security-label", "snap:firefox", "proven"),
            ("AppArmor profile /usr/bin/x", "security-label", "label:/usr/bin/x", "proven"),
            ("“/usr/bin/git” (process 7)", "system-program", "program:/usr/bin/git", "likely"),
            ("“/home/a/My Tool” (process 7)", "own-program", "program:\"/home/a/My Tool\"", "said"),
            (
                "“/usr/bin/python3” (process 7), which says that it runs “/a/b.py”", "interpreter", "script:/a/b.py",
                "said"
            ),
            ("a program in “app.service” (process 7)", "unit", "unit:app.service", "said"),
        ]
    )
    func program_isNamed(caller: String, evidence: String, rule: String, strength: String) throws {
        let program = try #require(AuditedProgram(.use(by: caller, evidence, of: "/item")))
        #expect(program.ruleText == rule)
        #expect(program.strength.rawValue == strength)
    }

    @Test(
        "a program that is not known for sure has none",
        arguments: [
            ("a program that calls itself “git” (process 7)", "command-name"), ("an unknown program (gone)", "nothing"),
            ("“/usr/bin/git” in a file system of its own (process 7)", "foreign-program"),
            ("“/usr/bin/git”, deleted or replaced meanwhile (process 7)", "system-program"),
            ("“/home/anna/very…long/tool” (process 7)", "own-program"), ("“” (process 7)", "own-program"),
            ("Flatpak ", "sandbox-file"), ("a sandbox without a proven name", "unproven-sandbox"),
            ("the application “org.example.Mail”", "desktop-portal"),
            ("Snap firefox", "control-group"), ("“/usr/bin/gdb” (process 7)", "interpreter"),
        ]
    )
    func program_unknown_hasNoName(caller: String, evidence: String) {
        #expect(AuditedProgram(.use(by: caller, evidence, of: "/item")) == nil)
    }

    @Test("each program is allowed the items that it has used, those of the busiest first")
    func rules_areOfProgramsAndItems() {
        let (git, mail) = ("“/usr/bin/git” (process 7)", "Flatpak org.example.Mail")
        let rules = LearnedRules(
            [
                .use(by: git, "system-program", of: "/login/1"),
                .use(by: "“/usr/bin/git” (process 8)", "system-program", of: "/login/1", "success × 3"),
                .use(by: mail, "sandbox-file", of: "/login/2", "success × 9"),
                .use(by: mail, "sandbox-file", of: "/login/1"),
                .use(by: git, "system-program", of: "/login/2", kind: "denial", "notInteractive"),
                .use(by: git, "system-program", of: "/login/2", kind: "authentication", "success"),
                .use(by: git, "system-program", of: "/login/3"),
                .use(by: git, "system-program", of: ""),
            ],
            ["/login/1": .init(label: "Forge", attributes: [:]), "/login/2": .init(label: "Mail", attributes: [:])]
        )
        #expect(
            rules.rules == [
                "allow flatpak:org.example.Mail item=/login/1", "allow flatpak:org.example.Mail item=/login/2",
                "allow program:/usr/bin/git item=/login/1",
            ]
        )
        let lines = rules.lines(since: nil)
        #expect(lines.contains { $0.contains("“Forge”, used 4 times") })
        #expect(lines.contains { $0.contains("1 use was of an item that no longer exists.") })
        #expect(lines.filter { !$0.isEmpty && !$0.hasPrefix("#") } == rules.rules)
    }

    @Test("a protected program that has loaded code of the user is no rule's, one of the user is")
    func rules_ofOwnPrograms() {
        let rules = LearnedRules(
            [
                .use(by: "“/usr/bin/mail” (process 7)", "own-program", of: "/login/1"),
                .use(by: "“/home/anna/tool” (process 8)", "own-program", of: "/login/1"),
            ],
            ["/login/1": .init(label: "Mail", attributes: [:])],
            isProtected: { $0.hasPrefix("/usr/") }
        )
        #expect(rules.rules == ["allow program:/home/anna/tool item=/login/1"])
        #expect(rules.lines(since: nil).contains { $0.contains("/usr/bin/mail") })
    }

    @Test("numbers of uses that no audit has are counted up to the largest, and none is negative")
    func numbers_madeUp_areClamped() {
        let git = "“/usr/bin/git” (process 7)"
        let many = "success × \(Int.max)"
        let rules = LearnedRules(
            [
                .use(by: git, "system-program", of: "/login/1", many),
                .use(by: git, "system-program", of: "/login/1", many),
                .use(by: git, "system-program", of: "/login/2", many),
                .use(by: git, "system-program", of: "/login/3", many),
                .use(by: git, "system-program", of: "/login/3", many),
                .use(by: git, "system-program", of: "/login/4", "success × -1"),
                .use(by: git, "system-program", of: "/login/4", "success × 99999999999999999999"),
            ],
            [
                "/login/1": .init(label: "Forge", attributes: [:]), "/login/2": .init(label: "Mail", attributes: [:]),
                "/login/4": .init(label: "Bank", attributes: [:]),
            ]
        )
        #expect(rules.rules.map { $0.suffix(8) } == ["/login/1", "/login/2"])
        let lines = rules.lines(since: nil)
        #expect(lines.contains { $0.contains("“Forge”, used \(Int.max) times") })
        #expect(lines.contains { $0.contains("\(Int.max) uses were of items that no longer exist.") })
    }

    @Test("no label, attribute or program begins a rule of its own")
    func names_endNoComment() {
        let evil = "x\nallow any *\r\u{2028}allow any *\u{85}allow any *"
        let rules = LearnedRules(
            [
                .use(by: "“/tmp/\(evil)” (process 7)", "own-program", of: "/login/1"),
                .use(
                    by: "“/usr/bin/python3” (process 7), which says that it runs “\(evil)”",
                    "interpreter",
                    of: "/login/1"
                ),
                .use(by: "a program that calls itself “\(evil)” (process 7)", "command-name", of: "/login/1"),
            ],
            ["/login/1": .init(label: evil, attributes: [evil: evil])],
            isProtected: { _ in false }
        )
        let lines = rules.lines(since: nil)
        let scalars = lines.flatMap(\.unicodeScalars).map(\.properties.generalCategory)
        #expect(!scalars.contains(.control) && !scalars.contains(.lineSeparator))
        #expect(lines.filter { !$0.isEmpty && !$0.hasPrefix("#") } == rules.rules)
        #expect(rules.rules.count == 2)
        #expect(rules.rules.allSatisfy { $0.hasSuffix(" item=/login/1") })
    }
}

extension AuditRecord {
    fileprivate static func use(
        by caller: String,
        _ evidence: String,
        of item: String,
        kind: String = "release",
        _ outcome: String = "success"
    ) -> AuditRecord {
        AuditRecord(time: 1, kind: kind, caller: caller, evidence: evidence, item: item, outcome: outcome)
    }
}
