import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindRules
import KeychaindVault

/// The decisions of the rules about a client and an item.
extension ItemRules {
    /// Whether a call must wait until its caller is known.
    func awaitsCaller(of client: Client) -> Bool {
        isActive && client.rules.state == nil && client.knownCaller == nil
    }

    /// Looks at a caller; it is looked at again with each decision.
    func look(at client: Client) async {
        _ = await client.caller()
        _ = selection(for: client)
    }

    /// The rules about a client, and the caller that they are about.
    ///
    /// The process is looked at again when some time has passed: it may have ended, or become another program.
    func selection(for client: Client) -> ClientRules.State {
        let now = ContinuousClock.now
        if let state = client.rules.state, state.generation == generation, now - state.looked < ItemRules.patience {
            return state
        }
        loadIfPossible()
        let caller = client.knownCaller
        let time = clock()
        if let state = client.rules.state, state.generation == generation,
            (state.caller != nil) == (caller?.isSeenByRules ?? false), state.selection.end.map({ time < $0 }) ?? true
        {
            state.looked = now
            return state
        }
        let seen = caller?.forRules
        let state = ClientRules.State(
            set.selection(for: seen, at: time),
            about: seen,
            text: caller?.auditText ?? Caller.opaque(client.name, reason: Text("it is not known yet")).auditText,
            generation: generation,
            looked: now
        )
        client.rules.state = state
        return state
    }

    /// The time for which the examination of a process is good; it can change as fast after any.
    private static let patience = Duration.milliseconds(1)

    /// The decision of the rules on a read.
    func decision(on id: ItemID, in collection: Collection, for client: Client) -> RuleDecision {
        guard isActive else { return .none }
        let state = selection(for: client)
        guard !state.selection.isEmpty else { return .none }
        let attributes = state.selection.needsAttributes ? collection.attributes(of: id) : nil
        return state.selection.decision(on: RuleSubject(id, in: collection.name, with: attributes ?? [:]))
    }

    /// Whether an item would be under a more lenient rule with other attributes.
    func loosens(_ id: ItemID, in collection: Collection, with attributes: Attributes, for client: Client) -> Bool {
        let present = decision(on: id, in: collection, for: client).action
        guard !present.isLenient else { return false }
        let subject = RuleSubject(id, in: collection.name, with: attributes)
        return selection(for: client).selection.decision(on: subject).action < present
    }

    /// The verdict of rules on an item that has one of its own.
    func verdict(
        _ decision: RuleDecision,
        after own: ItemVerdict,
        on id: ItemID,
        in collection: Collection,
        for client: Client
    ) -> ItemVerdict {
        switch (decision.action, own) {
        case (.never, _), (.hide, _):
            return .unavailable(.forbidden)
        case (_, .unavailable), (_, .granted), (_, .needsConfirmation):
            return own
        case (_, .needsAuthentication):
            guard let always = decision.always, stands(always, in: id, of: collection) else { return own }
            return .granted(ItemGrant(byRuleTo: client.rules.state?.text ?? ""))
        case (.allow, .open), (.notify, .open):
            return own
        case (.askOnce, .open) where isRemembered(ItemReference(id, in: collection), for: client):
            return own
        case (.askOnce, .open), (.askAlways, .open):
            let grant = client.grant(of: ItemReference(id, in: collection))
            return grant.map { .granted($0) } ?? .needsConfirmation
        }
    }

    /// Whether a rule of a dialog is about the item as it is now.
    ///
    /// An access control that was changed since is not what the person has seen. A sealed item opens only by what its
    /// policy asks for.
    private func stands(_ entry: RuleEntry, in id: ItemID, of collection: Collection) -> Bool {
        guard !collection.needsItemKey(id), let binding = bindings[entry.id] else { return false }
        return binding == ItemRules.binding(of: id, in: collection)
    }

    static func binding(of id: ItemID, in collection: Collection) -> StoredRule.Binding? {
        collection.created(of: id).map {
            StoredRule.Binding(created: $0.microsecondsSinceEpoch, policy: collection.policyText(of: id))
        }
    }
}

/// The items that do not exist for a client by a rule.
extension ItemRules {
    /// Whether rules hide items from a client.
    func hidesItems(from client: Client) -> Bool {
        guard hidesItems else { return false }
        // A selection without the caller would stand for it in its first call, which waits for it. Until then, nothing
        // is shown.
        return awaitsCaller(of: client) || selection(for: client).selection.hidesItems
    }

    /// Whether rules hide an item from a client.
    func hides(_ id: ItemID, in collection: Collection, from client: Client) -> Bool {
        guard hidesItems(from: client) else { return false }
        return awaitsCaller(of: client) || decision(on: id, in: collection, for: client).action == .hide
    }

    /// Whether rules would hide a described item from a client.
    func hides(_ subject: RuleSubject, from client: Client) -> Bool {
        hidesItems(from: client) && selection(for: client).selection.decision(on: subject).action == .hide
    }
}
