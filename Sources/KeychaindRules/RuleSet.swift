package import KeychaindModel

/// A rule with its origin.
package struct RuleEntry: Hashable, Sendable {
    package enum Origin: Hashable, Sendable {
        /// Added by the user.
        case user

        /// Made in the dialog of one item, for a program with proven identity; the only rule that stands in for the
        /// item's access control.
        case always

        /// From a file of an administrator; counts beside the user's rules, never less.
        case administrator(place: String)

        /// Stands for rules that cannot be read.
        case missing
    }

    package let id: String
    package let origin: Origin
    package let rule: Rule

    package init(_ rule: Rule, id: String, from origin: Origin) {
        self.rule = rule
        self.id = id
        self.origin = origin
    }

    /// The order of administrators' and missing rules, which are decided apart from the user's.
    var isUsers: Bool {
        switch origin {
        case .user, .always: true
        case .administrator, .missing: false
        }
    }
}

/// What the rules say about one read.
package struct RuleDecision: Hashable, Sendable {
    package let action: RuleAction

    /// The rule that decided; nil if none is about the program and the item.
    package let entry: RuleEntry?

    /// The rule that stands in for the item's access control, if there is one and no other rule forbids it.
    package let always: RuleEntry?

    /// Whether a rule decided; a comparison with nil would copy it.
    package var isByRule: Bool { if case .some = entry { true } else { false } }

    package init(_ action: RuleAction, by entry: RuleEntry?, always: RuleEntry? = nil) {
        self.action = action
        self.entry = entry
        self.always = always
    }

    /// The decision where no rule says anything.
    package static let none = RuleDecision(.allow, by: nil)
}

/// All rules, in the order in which they were made.
package struct RuleSet: Sendable {
    package let entries: [RuleEntry]

    package init(_ entries: [RuleEntry] = []) {
        self.entries = entries
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// Whether a rule hides items from a program.
    package var hidesItems: Bool { entries.contains { $0.rule.action == .hide } }

    /// The rules about a caller; nil stands for a caller that cannot be seen, or no longer.
    ///
    /// About that one, each rule that restricts anybody counts, and no rule in favour of a named program: it may be any
    /// of them.
    package func selection(for caller: RuleCaller?, at now: Timestamp) -> RuleSelection {
        let current = entries.filter { !$0.rule.hasEnded(at: now) }
        guard let caller else {
            return RuleSelection(
                current.filter { entry in
                    !entry.rule.action.isLenient || entry.rule.programs == RulePrograms(.any)
                },
                now,
                isStrictest: true
            )
        }
        let hasProof = caller.main.map { $0.strength == .proven } ?? false
        return RuleSelection(
            current.filter { entry in
                if case .always = entry.origin, !hasProof { return false }
                return entry.rule.programs.matches(caller, lenient: entry.rule.action.isLenient)
            },
            now,
            isStrictest: false
        )
    }
}

/// The rules about one caller, found by what they say about items.
package final class RuleSelection: Sendable {
    /// The first end of one of the rules, after which the selection must be made anew.
    package let end: Timestamp?

    private let isStrictest: Bool
    private let byItem: [RuleItems.ItemPath: [RuleEntry]]
    /// By the hash of one attribute that the item must have: of its name, a null byte, and its value.
    private let byAttribute: [Int: [RuleEntry]]
    private let byCollection: [CollectionName: [RuleEntry]]
    private let general: [RuleEntry]

    /// Whether a decision needs the item's attributes.
    package let needsAttributes: Bool

    /// Whether a rule hides items from the caller.
    package let hidesItems: Bool

    init(_ entries: [RuleEntry], _ now: Timestamp, isStrictest: Bool) {
        self.isStrictest = isStrictest
        end = entries.compactMap(\.rule.end).min()
        var byItem: [RuleItems.ItemPath: [RuleEntry]] = [:]
        var byAttribute: [Int: [RuleEntry]] = [:]
        var byCollection: [CollectionName: [RuleEntry]] = [:]
        var general: [RuleEntry] = []
        for entry in entries {
            let items = entry.rule.items
            if let item = items.item {
                byItem[item, default: []].append(entry)
            } else if !items.attributes.isEmpty {
                byAttribute[RuleSelection.key(of: items.attributes), default: []].append(entry)
            } else if let collection = items.collection {
                byCollection[collection, default: []].append(entry)
            } else {
                general.append(entry)
            }
        }
        self.byItem = byItem
        self.byAttribute = byAttribute
        self.byCollection = byCollection
        self.general = general
        needsAttributes = entries.contains { !$0.rule.items.attributes.isEmpty }
        hidesItems = entries.contains { $0.rule.action == .hide }
    }

    /// Whether no rule is about the caller.
    package var isEmpty: Bool { byItem.isEmpty && byAttribute.isEmpty && byCollection.isEmpty && general.isEmpty }

    /// Decides about an item, in the order of docs/rules.md.
    package func decision(on subject: RuleSubject) -> RuleDecision {
        let matching = matching(subject)
        guard !matching.isEmpty else { return .none }
        let users = decide(matching.filter { $0.isUsers && $0.origin != .always })
        let others = decide(matching.filter { !$0.isUsers })
        let always = matching.first { $0.origin == .always && $0.rule.items.item != nil }
        // A person has answered the same question before, in the dialog.
        let ofUser = always != nil && users.action < .never ? RuleDecision(.allow, by: always) : users
        let decision = others.action > ofUser.action || ofUser.entry == nil ? others : ofUser
        return RuleDecision(decision.action, by: decision.entry, always: decision.action.isLenient ? always : nil)
    }

    private func matching(_ subject: RuleSubject) -> [RuleEntry] {
        var candidates = general
        if !byItem.isEmpty, let item = subject.item, let entries = byItem[item] { candidates += entries }
        if !byCollection.isEmpty, let collection = subject.collection, let entries = byCollection[collection] {
            candidates += entries
        }
        if !byAttribute.isEmpty {
            subject.attributes.forEachPair { pair in
                if let entries = byAttribute[RuleSelection.hash(of: pair)] { candidates += entries }
            }
        }
        guard !candidates.isEmpty else { return [] }
        return candidates.filter { $0.rule.items.matches(subject) }
    }

    /// The strictest of the rules that no other one surpasses in what it says about program and item.
    private func decide(_ entries: [RuleEntry]) -> RuleDecision {
        struct Weight: Hashable {
            let program: Int
            let items: Int

            func surpasses(_ other: Weight) -> Bool {
                program >= other.program && items >= other.items && self != other
            }
        }
        var strictest: [Weight: RuleEntry] = [:]
        var order: [Weight] = []
        for entry in entries {
            let rule = entry.rule
            let weight =
                isStrictest
                ? Weight(program: 0, items: 0) : Weight(program: rule.programs.weight, items: rule.items.weight)
            guard let other = strictest[weight] else {
                strictest[weight] = entry
                order.append(weight)
                continue
            }
            if rule.action > other.rule.action { strictest[weight] = entry }
        }
        var best: RuleEntry?
        for weight in order where !order.contains(where: { $0.surpasses(weight) }) {
            guard let entry = strictest[weight] else { continue }
            if best.map({ entry.rule.action > $0.rule.action }) ?? true { best = entry }
        }
        return RuleDecision(best?.rule.action ?? .allow, by: best)
    }

    /// The hash of the attribute by which a rule is found; not of the schema, which many items share.
    private static func key(of attributes: Attributes) -> Int {
        let schema = Array(Attributes.schema.utf8) + [0]
        var first: Int?
        var best: Int?
        attributes.forEachPair { pair in
            let hash = hash(of: pair)
            if first == nil { first = hash }
            if best == nil, !pair.starts(with: schema) { best = hash }
        }
        return best ?? first ?? 0
    }

    private static func hash(of pair: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: pair)
        return hasher.finalize()
    }
}
