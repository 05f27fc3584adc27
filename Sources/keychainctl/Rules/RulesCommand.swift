import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Decide which programs may have which items.",
        discussion: "Needs keychaind. keychaind asks for your password or a touch before rules change.",
        subcommands: [List.self, Add.self, Remove.self, Reset.self, Test.self, LearnCommand.self],
        defaultSubcommand: List.self
    )

    struct List: RulesSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "List the rules, those of administrators first.",
            discussion: """
                EVIDENCE says what a rule about a program withstands: proven (a sandbox, which the program cannot \
                leave), likely (a program file that only an administrator can change) or said (anything else).
                """
        )

        @OptionGroup var format: JSONArguments

        func run(_ provider: ProviderAccess) async throws {
            let problem = try await provider.client.ruleProblem()
            // Without those of the user there is no list.
            guard problem.isEmpty else { throw RulesCommand.unreadable(problem) }
            let rules = try await provider.client.rules()
            if format.json {
                try provider.output.line(JSON.array(rules.map(\.json)))
            } else {
                let titles = [
                    Text("ID"), Text("RULE"), Text("FROM"), Text("EVIDENCE"), Text("USED"), Text("LAST USED"),
                ]
                let table = Table(titles, to: provider.output)
                for rule in rules { try table.add(rule.row) }
                try table.finish()
            }
            try provider.output.flush()
        }
    }

    struct Add: RulesSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Add rules.",
            discussion: """
                A rule is one argument: ACTION WHO WHAT, such as 'ask-once any service=bank'. ACTION is allow, notify, \
                ask-once, ask-always, never or hide. “man keychainctl” has more.
                """
        )

        @Argument(help: "The rules, each in quotation marks of the shell.")
        var rules: [String] = []

        @Option(help: "Add the rules of a file, one a line, but for lines that begin with #. A - is standard input.")
        var file: String?

        @OptionGroup var format: JSONArguments

        func validate() throws {
            guard rules.isEmpty != (file == nil) else { throw ValidationError("give rules, or a --file with rules") }
            if let word = rules.first(where: { !$0.contains(" ") }) {
                throw ValidationError("“\(word.visible)” is no rule: put the whole rule in quotation marks")
            }
        }

        func run(_ provider: ProviderAccess) async throws {
            var rules = rules
            if let file { rules = try RuleFile(file, provider.interruption).rules }
            guard !rules.isEmpty else { throw CommandFailure(.notFound, "the file has no rules") }
            let ids = try await provider.client.addRules(rules)
            if format.json { return try provider.output.line(JSON.array(ids.map(JSON.string))) }
            for (id, rule) in zip(ids, rules) { try provider.output.line("\(id.visible)\t\(rule.shownRule)") }
        }
    }

    struct Remove: RulesSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove rules.",
            discussion: "Only an administrator can remove those of a file."
        )

        @Argument(help: "The identifiers of the rules, from the list.")
        var id: [String]

        func run(_ provider: ProviderAccess) async throws {
            try await provider.client.removeRules(id)
        }
    }

    struct Reset: RulesSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Give up rules that cannot be read.",
            discussion: "They are kept in the file rules.unreadable beside the keychains. Rules that can be read stay."
        )

        func run(_ provider: ProviderAccess) async throws {
            guard try await !provider.client.resetRules() else { return }
            throw CommandFailure(.notFound, "your rules can be read; nothing was changed")
        }
    }

    struct Test: RulesSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what the rules decide about a program and an item.",
            discussion: "Shows no dialog, and changes nothing."
        )

        @Argument(help: "The program, as in a rule, such as program:/usr/bin/git, or a name on the bus, such as :1.42.")
        var who: String

        @Argument(help: ArgumentHelp("What an item has, as in a rule.", valueName: "name=value"))
        var what: [String] = []

        @Option(help: "The item's place as lists show it, such as login/7.")
        var id: String?

        @OptionGroup var format: JSONArguments

        func validate() throws {
            guard what.isEmpty != (id == nil) else { throw ValidationError("name an item: by NAME=VALUE or --id") }
            if let word = what.first(where: { !$0.contains("=") && $0 != "*" }) {
                throw ValidationError("“\(word.visible)” is not an attribute: write NAME=VALUE")
            }
        }

        private var subject: String {
            if let id { return ListedItem.path(of: id) }
            return what.map(RuleText.condition).joined(separator: " ")
        }

        func run(_ provider: ProviderAccess) async throws {
            let answer = try await provider.client.testRules(who, subject)
            if format.json { return try provider.output.line(answer.json) }
            try provider.output.line(answer.action.visible)
            if !answer.rule.isEmpty {
                try provider.output.line("\(answer.id.visible)\t\(answer.rule.shownRule)")
            }
            try provider.output.line(answer.explanation.visible)
        }
    }

    private static func unreadable(_ problem: String) -> CommandFailure {
        CommandFailure(
            .badData,
            """
            your rules cannot be read: \(problem.visible). Until they can, every read asks; \
            “keychainctl rules reset” gives them up.
            """
        )
    }
}

private protocol RulesSubcommand: KeychaindCommand {}

extension RulesSubcommand {
    static var statusOfMistakes: ExitStatus { .mistakes }
}

extension ListedRule {
    fileprivate var row: [String] {
        let last = lastUse == 0 ? "" : Time.minute(lastUse / 1_000_000)
        return [id.visible, text.shownRule, shownOrigin, shownStrength, "\(uses)", last]
    }

    private var shownOrigin: String {
        switch origin {
        case "user": Text("you", context: "who made a rule").cell
        case "always": Text("a dialog", context: "where a rule was made").cell
        default: origin.visible
        }
    }

    private var shownStrength: String {
        switch strength {
        case "proven": Text("proven").cell
        case "likely": Text("likely").cell
        case "said": Text("said").cell
        case "error": Text("not understood").cell
        default: strength.visible
        }
    }

    fileprivate var json: String {
        "{\"id\": \(JSON.string(id)), \"origin\": \(JSON.string(origin)), \"rule\": \(JSON.string(text)), "
            + "\"strength\": \(JSON.string(strength)), \"uses\": \(uses), \"last-use\": \(lastUse / 1_000_000)}"
    }
}

extension RuleAnswer {
    fileprivate var json: String {
        "{\"action\": \(JSON.string(action)), \"rule\": \(JSON.string(rule)), \"id\": \(JSON.string(id)), "
            + "\"explanation\": \(JSON.string(explanation))}"
    }
}
