import KeychaindModel
import KeychaindRules

/// A rule of the user, as it is stored.
struct StoredRule: Hashable {
    /// The item of a rule that a dialog made; another item with that number, or one whose access control was changed
    /// since, is not meant.
    struct Binding: Hashable {
        let created: Int64
        let policy: String
    }

    let number: UInt64
    let rule: Rule
    /// Only with a rule that stands in for an access control.
    let binding: Binding?

    var id: String { String(number) }

    var entry: RuleEntry { RuleEntry(rule, id: id, from: binding == nil ? .user : .always) }
}

/// The rules of the user, in the order in which they were made.
struct StoredRules: Hashable {
    /// The most rules of a user.
    static let limit = 10_000

    private(set) var rules: [StoredRule] = []
    private var next: UInt64 = 1

    init() {}

    /// Adds rules, or finds the equal ones.
    mutating func add(_ added: [Rule], binding: StoredRule.Binding? = nil) -> [StoredRule] {
        var known: [Rule: StoredRule] = [:]
        for stored in rules where stored.binding == binding { known[stored.rule] = stored }
        return added.map { rule in
            if let stored = known[rule] { return stored }
            let stored = StoredRule(number: next, rule: rule, binding: binding)
            next += 1
            rules.append(stored)
            known[rule] = stored
            return stored
        }
    }

    mutating func remove(_ numbers: Set<UInt64>) {
        rules.removeAll { numbers.contains($0.number) }
    }

    /// Lines: the version and the next number, then for each rule its number, the binding, and its text, with tabs
    /// between.
    var encoded: [UInt8] {
        var text = "1\t\(next)\n"
        for stored in rules {
            let binding = stored.binding.map { "\($0.created)\t\($0.policy)" } ?? "\t"
            text += "\(stored.number)\t\(binding)\t\(stored.rule.text)\n"
        }
        return Array(text.utf8)
    }

    /// Nil unless every line is understood: a rule that is left out could be the one that forbids something.
    init?(decoding bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.split(separator: "\n")[...]
        let head = lines.popFirst()?.split(separator: "\t") ?? []
        guard head.count == 2, head[0] == "1", let next = UInt64(head[1]), lines.count <= StoredRules.limit else {
            return nil
        }
        for line in lines {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 4, let number = UInt64(fields[0]), number < next,
                let rule = try? Rule(String(fields[3]))
            else { return nil }
            let created = Int64(fields[1])
            guard fields[1].isEmpty || created != nil else { return nil }
            let binding = created.map { StoredRule.Binding(created: $0, policy: String(fields[2])) }
            rules.append(StoredRule(number: number, rule: rule, binding: binding))
        }
        self.next = next
    }
}
