import KeychaindModel
import KeychaindRules
import KeychaindVault

extension ItemRules {
    /// The items that the rules share with a program: those that a rule about it lets it have.
    func shared(with identity: ProgramIdentity, in collection: Collection) -> Set<ItemID> {
        guard isActive else { return [] }
        loadIfPossible()
        let now = clock()
        let sharing = set.entries.filter { entry in
            entry.rule.action < .never && !entry.rule.hasEnded(at: now)
                && entry.rule.programs == RulePrograms(.identity(identity))
        }
        guard !sharing.isEmpty else { return [] }
        let state = SharedItems.State(generation, collection.modified, collection.itemCount, collection.state)
        let key = SharedItems.Key(identity: identity, collection: collection.name)
        if let known = sharedItems[key], known.state == state, known.rules == sharing.map(\.id) { return known.items }
        let claim = IdentityClaim(identity, identity.kind.strength, needed: identity.kind.strength)
        let selection = set.selection(for: RuleCaller([claim]), at: now)
        var shared: Set<ItemID> = []
        for id in collection.itemIDs {
            let subject = RuleSubject(id, in: collection.name, with: collection.attributes(of: id) ?? [:])
            guard sharing.contains(where: { $0.rule.items.matches(subject) }) else { continue }
            if selection.decision(on: subject).action < .never { shared.insert(id) }
        }
        if sharedItems.count >= SharedItems.limit { sharedItems = [:] }
        sharedItems[key] = SharedItems(state: state, rules: sharing.map(\.id), items: shared)
        return shared
    }
}

/// A kept result of ``ItemRules/shared(with:in:)``, which each call of a program needs.
struct SharedItems {
    struct Key: Hashable {
        let identity: ProgramIdentity
        let collection: CollectionName
    }

    struct State: Equatable {
        let generation: Int
        let modified: Timestamp
        let count: Int
        let state: Collection.State

        init(_ generation: Int, _ modified: Timestamp, _ count: Int, _ state: Collection.State) {
            self.generation = generation
            self.modified = modified
            self.count = count
            self.state = state
        }
    }

    /// Entries that are kept.
    static let limit = 256

    let state: State
    /// The rules that were in force; one of them may have ended since.
    let rules: [String]
    let items: Set<ItemID>
}
