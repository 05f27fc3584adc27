package import KeychaindModel

/// Which program may have what: one line of text.
///
/// `ACTION WHO [through WHO] [in WHO] WHAT... [until TIME]`; docs/rules.md has the grammar.
package struct Rule: Hashable, Sendable {
    /// The most bytes of a rule's text.
    package static let longest = 4096

    package let action: RuleAction
    package let programs: RulePrograms
    package let items: RuleItems

    /// The end of the rule; nil for none.
    package let end: Timestamp?

    package init(_ action: RuleAction, _ programs: RulePrograms, _ items: RuleItems, until end: Timestamp? = nil) {
        self.action = action
        self.programs = programs
        self.items = items
        self.end = end
    }

    /// Parses a line.
    package init(_ line: String) throws(RuleError) {
        guard line.utf8.count <= Rule.longest else { throw .tooLong }
        var words = try RuleWord.split(line)[...]
        let first = words.popFirst()
        guard let first, !first.isQuoted, let action = RuleAction(rawValue: first.text) else {
            throw .unknownAction(first?.text ?? "")
        }
        let programs = try RulePrograms(&words)
        let items = try RuleItems(&words)
        var end: Timestamp?
        if let word = words.popFirst() {
            guard word.isKeyword("until") else { throw .trailing(word.text) }
            let time = words.popFirst()?.text ?? ""
            end = RuleTime.parse(time)
            if end == nil { throw .unknownTime(time) }
        }
        if let word = words.first { throw .trailing(word.text) }
        self.init(action, programs, items, until: end)
        // Escapes make a text longer.
        guard text.utf8.count <= Rule.longest else { throw .tooLong }
    }

    /// The rule in its one canonical form, without control characters.
    package var text: String {
        let words =
            [action.rawValue, programs.text, items.text] + (end.map { ["until", RuleTime.text(of: $0)] } ?? [])
        return words.joined(separator: " ")
    }

    /// Whether the rule says less about items than another one, or as much about them and less about programs.
    package func isWider(than other: Rule) -> Bool {
        (items.weight, programs.weight) < (other.items.weight, other.programs.weight)
    }

    package func hasEnded(at now: Timestamp) -> Bool { end.map { $0 <= now } ?? false }
}

/// The programs that a rule is about.
package struct RulePrograms: Hashable, Sendable {
    package enum Pattern: Hashable, Sendable {
        case any
        case identity(ProgramIdentity)

        func matches(_ identity: ProgramIdentity) -> Bool {
            switch self {
            case .any: true
            case .identity(let wanted): wanted == identity
            }
        }

        fileprivate var text: String {
            switch self {
            case .any: "any"
            case .identity(let identity): "\(identity.kind.rawValue):\(RuleQuotation.quote(identity.name))"
            }
        }
    }

    /// The caller; with ``helper``, the program that it works for.
    package let program: Pattern

    /// The caller, if it must work for ``program``.
    package let helper: Pattern?

    /// The program around them.
    package let place: Pattern?

    package init(_ program: Pattern, through helper: Pattern? = nil, in place: Pattern? = nil) {
        self.program = program
        self.helper = helper
        self.place = place
    }

    /// Parses the beginning of a line: `WHO [through WHO] [in WHO]`, and nothing else.
    package init(_ text: String) throws(RuleError) {
        guard text.utf8.count <= Rule.longest else { throw .tooLong }
        var words = try RuleWord.split(text)[...]
        try self.init(&words)
        if let word = words.first { throw .trailing(word.text) }
    }

    init(_ words: inout ArraySlice<RuleWord>) throws(RuleError) {
        program = try RulePrograms.pattern(&words)
        helper = try RulePrograms.pattern(after: "through", &words)
        place = try RulePrograms.pattern(after: "in", &words)
    }

    private static func pattern(
        after keyword: String,
        _ words: inout ArraySlice<RuleWord>
    ) throws(RuleError) -> Pattern? {
        guard words.first?.isKeyword(keyword) == true else { return nil }
        words.removeFirst()
        return try pattern(&words)
    }

    private static func pattern(_ words: inout ArraySlice<RuleWord>) throws(RuleError) -> Pattern {
        guard let word = words.popFirst() else { throw .missingProgram }
        if word.isKeyword("any") { return .any }
        guard let identity = ProgramIdentity(word.text) else { throw .unknownProgram(word.text) }
        return .identity(identity)
    }

    package var text: String {
        let words =
            [program.text] + (helper.map { ["through", $0.text] } ?? []) + (place.map { ["in", $0.text] } ?? [])
        return words.joined(separator: " ")
    }

    /// How much the rule can rely on what it says about programs; nil if it says nothing about them.
    package var strength: Strength? {
        if helper != nil || place != nil { return .said }
        if case .identity(let identity) = program { return identity.kind.strength }
        return nil
    }

    /// Whether the rule is about a caller.
    ///
    /// - Parameter lenient: counts only good claims, as the rule lets the caller do something.
    package func matches(_ caller: RuleCaller, lenient: Bool) -> Bool {
        if let place {
            guard let actual = caller.place, place.matches(actual) else { return false }
        }
        guard let helper else { return RulePrograms.matches(program, caller.claims, lenient) }
        guard let principal = caller.principal, program.matches(principal) else { return false }
        return RulePrograms.matches(helper, caller.claims, lenient)
    }

    private static func matches(_ pattern: Pattern, _ claims: [IdentityClaim], _ lenient: Bool) -> Bool {
        if case .any = pattern { return true }
        return claims.contains { (!lenient || $0.isGood) && pattern.matches($0.identity) }
    }

    /// How much the rule says about programs.
    var weight: Int {
        func weight(_ pattern: Pattern?) -> Int {
            switch pattern {
            case nil: 0
            case .any: 1
            case .identity(let identity):
                switch identity.kind {
                case .unit: 2
                case .program: 3
                case .flatpak, .snap, .label, .script: 4
                }
            }
        }
        return weight(program) * 16 + weight(helper) * 4 + weight(place)
    }
}
