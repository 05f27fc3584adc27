import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindRules
import KeychaindVault
import Logging

/// Changes the rules after a person has authenticated; the result is the identifiers of the rules.
@BusActor
final class RulePrompt: PromptAction {
    enum Change {
        case add([Rule])
        case remove([StoredRule])
        /// Keeps rules that cannot be read in another file.
        case setAside
    }

    private let change: Change
    private let rules: ItemRules
    private let authenticator: Authenticator

    init(_ change: Change, rules: ItemRules, authenticator: Authenticator) {
        self.change = change
        self.rules = rules
        self.authenticator = authenticator
        keptBytes = shown(of: change).reduce(0) { $0 + $1.text.utf8.count * 2 + 200 }
    }

    var emptyResult: Variant { RulePrompt.result([]) }

    let keptBytes: Int

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        let caller = await client.caller()
        let words = RuleChangePurpose(change: change, caller: caller).words(windowID: conversation.windowID)
        guard await authenticator.provesPresence(asking: conversation, words), !conversation.isEnded else {
            return .dismissed(emptyResult)
        }
        do throws(BusError) {
            let ids = try await apply()
            authenticator.audit.rulesChanged(shown(of: change).map(\.text), by: caller)
            return .done(RulePrompt.result(ids))
        } catch {
            authenticator.logger.error("The rules could not be changed", metadata: ["reason": "\(error.message)"])
            return .dismissed(emptyResult)
        }
    }

    private func apply() async throws(BusError) -> [String] {
        switch change {
        case .add(let added):
            try await rules.change { stored in stored.add(added).map(\.id) }
        case .remove(let removed):
            try await rules.change { stored in
                stored.remove(Set(removed.map(\.number)))
                return removed.map(\.id)
            }
        case .setAside:
            try await setAside()
        }
    }

    private func setAside() async throws(BusError) -> [String] {
        try await rules.setAside()
        return []
    }

    private static func result(_ ids: [String]) -> Variant { .strings(ids) }
}

/// The rules that a change is about.
private func shown(of change: RulePrompt.Change) -> [Rule] {
    switch change {
    case .add(let rules): rules
    case .remove(let rules): rules.map(\.rule)
    case .setAside: []
    }
}

/// The texts of the dialog for a change of rules.
private struct RuleChangePurpose {
    let change: RulePrompt.Change
    let caller: Caller

    /// The most rules that are shown.
    private static let limit = 6
    /// The bytes of rules that every prompter shows, whatever else is in its dialog.
    private static let roomForRules = 380

    private var headline: Text {
        let name = caller.name.subject.cut(bytes: 160)
        return switch change {
        case .add(let rules):
            Text(
                rules.count,
                one: "\(name) wants to add \(rules.count) rule",
                other: "\(name) wants to add \(rules.count) rules"
            )
        case .remove(let rules):
            Text(
                rules.count,
                one: "\(name) wants to remove \(rules.count) rule",
                other: "\(name) wants to remove \(rules.count) rules"
            )
        case .setAside: Text("\(name) wants to give up the rules, which cannot be read")
        }
    }

    /// The rules in words; of many, how many there are of each kind, so that none hides among the others.
    private var explanation: Text {
        let (areAdded, rules) =
            switch change {
            case .add(let rules): (true, rules)
            case .remove(let rules): (false, rules.map(\.rule))
            case .setAside: (false, [Rule]())
            }
        // Of added rules, the most lenient come first, of removed ones the strictest; of equal ones, the widest.
        let sorted = rules.sorted { first, second in
            guard first.action == second.action else { return (first.action < second.action) == areAdded }
            return first.isWider(than: second)
        }
        var lines: [Text] = []
        var room = RuleChangePurpose.roomForRules
        for sentence in sorted.prefix(RuleChangePurpose.limit).lazy.map(\.sentence) {
            room -= caller.language.string(sentence, isolating: true).shownBytes
            // A prompter cuts what is too long for it, and the rules at the end would be missing.
            guard lines.isEmpty || room >= 0 else { break }
            lines.append(sentence)
        }
        let rest = sorted.dropFirst(lines.count)
        if !rest.isEmpty {
            let counts = RuleAction.allCases.compactMap { action -> Text? in
                let count = rest.count { $0.action == action }
                return count == 0 ? nil : Text(verbatim: "\(action.rawValue): \(count)")
            }
            lines.append(Text(rest.count, one: "And \(rest.count) more.", other: "And \(rest.count) more."))
            lines.append(.list(counts))
        }
        if case .setAside = change {
            lines.append(Text("The file is kept. Programs are no longer asked about because of it."))
        }
        return .lines(lines)
    }

    func words(windowID: String) -> EvaluationWords {
        var words = EvaluationWords(
            language: caller.language,
            message: headline,
            // The rules first: what is cut is at the end.
            circumstances: .lines([explanation, caller.circumstances]),
            caller: caller.fullName,
            callerDetails: caller.details,
            windowID: windowID
        )
        words.summary = .joined([Text("\(headline)."), explanation])
        return words
    }
}
