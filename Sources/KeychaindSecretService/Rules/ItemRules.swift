package import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindRules
import KeychaindVault
import Logging

/// The rules that say which program may have which item, and what they decided.
///
/// Without rules, a read costs one comparison.
@BusActor
final class ItemRules {
    /// The rules of the user.
    private enum Users {
        /// The vault is not open yet.
        case unread
        /// They need the first unlock of `login`.
        case sealed
        case known(StoredRules)
        case unreadable(reason: String)
    }

    /// The use of a rule since the start.
    struct Use {
        var count: UInt32 = 0
        var last: Timestamp
    }

    private let vault: Vault
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private var users = Users.unread
    private(set) var administrators = AdministratorRules.none
    private var set = RuleSet()
    /// Changes with the rules.
    private var generation = 0
    private(set) var uses: [String: Use] = [:]
    private var bindings: [String: StoredRule.Binding] = [:]
    private var remembered: Set<Remembered> = []
    private let writing = KeyedLock<Int>()

    /// Whether there are rules.
    private(set) var isActive = false

    /// Called for each read that a rule lets a person know.
    var onNotice: (@BusActor (ProgramRead) -> Void)?

    /// Called after a change of the rules.
    var onChange: (@BusActor () -> Void)?

    /// Called for an item that is locked again to a caller, for it was only asked about once.
    var onForget: (@BusActor (RuleCaller, ItemReference) -> Void)?

    init(vault: Vault, clock: @escaping @Sendable () -> Timestamp = { Timestamp.now() }, logger: Logger) {
        self.vault = vault
        self.clock = clock
        self.logger = logger
    }

    private var sharedItems: [SharedItems.Key: SharedItems] = [:]

    // MARK: The rules

    /// Reads the stored rules, once the vault is open.
    func load() {
        switch vault.storedRules() {
        case .none: users = .known(StoredRules())
        case .sealed: users = .sealed
        case .unreadable(let reason): users = .unreadable(reason: reason)
        case .opened(let bytes):
            users =
                StoredRules(decoding: bytes).map { .known($0) }
                ?? .unreadable(reason: "the rules were written by another version")
        }
        if case .unreadable(let reason) = users {
            logger.error("The rules cannot be read; every read asks", metadata: ["reason": "\(reason)"])
        }
        rulesChanged()
    }

    /// Opens rules that waited for a key.
    private func loadIfPossible() {
        if case .sealed = users, vault.hasRulesKey { load() }
    }

    func use(_ administrators: AdministratorRules) {
        guard administrators != self.administrators else { return }
        for mistake in administrators.mistakes {
            logger.error(
                "An administrator's rule is not understood; every read asks",
                metadata: ["place": "\(mistake.place)", "reason": "\(mistake.reason)"]
            )
        }
        self.administrators = administrators
        rulesChanged()
    }

    private func rulesChanged() {
        var entries = administrators.entries
        // What a missing rule would have forbidden is not known.
        if !administrators.mistakes.isEmpty { entries.append(ItemRules.missing) }
        bindings = [:]
        switch users {
        case .unread: break
        case .sealed, .unreadable: entries.append(ItemRules.missing)
        case .known(let stored):
            entries += stored.rules.map(\.entry)
            for rule in stored.rules { bindings[rule.id] = rule.binding }
        }
        set = RuleSet(entries)
        isActive = !set.isEmpty
        generation += 1
        onChange?()
    }

    private static let missing = RuleEntry(Rule(.askOnce, RulePrograms(.any), RuleItems()), id: "", from: .missing)

    /// Why the rules of the user cannot be read; nil if they can.
    var problem: String? {
        loadIfPossible()
        return switch users {
        case .unread: "the keychains are not open yet"
        case .sealed: "the login keychain must be unlocked first"
        case .unreadable(let reason): reason
        case .known: nil
        }
    }

    /// The rules of the user; throws `IsLocked` if they cannot be read.
    func stored() throws(BusError) -> StoredRules {
        loadIfPossible()
        guard case .known(let stored) = users else { throw BusError(.isLocked, problem ?? "") }
        return stored
    }

    /// Whether the rules cannot be read for another reason than a locked keychain.
    var areUnreadable: Bool {
        if case .unreadable = users { true } else { false }
    }

    /// Changes the rules of the user durably.
    func change<Result>(_ body: (inout StoredRules) throws(BusError) -> Result) async throws(BusError) -> Result {
        await writing.lock(0)
        defer { writing.unlock(0) }
        var stored = try self.stored()
        let result = try body(&stored)
        guard stored.rules.count <= StoredRules.limit else {
            throw BusError(.limitsExceeded, "there are at most \(StoredRules.limit) rules")
        }
        let bytes = stored.encoded
        try await translatingErrors { () async throws(VaultError) in try await vault.storeRules(bytes) }
        users = .known(stored)
        rulesChanged()
        return result
    }

    /// Keeps rules that cannot be read in another file, and starts without any.
    func setAside() async throws(BusError) {
        await writing.lock(0)
        defer { writing.unlock(0) }
        guard areUnreadable else { return }
        try await translatingErrors { () async throws(VaultError) in try await vault.setRulesAside() }
        load()
    }

    // MARK: Deciding

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
    private func selection(for client: Client) -> ClientRules.State {
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

    /// The time for which a look at a process is good; it can change as fast after any look.
    private static let patience = Duration.milliseconds(1)

    /// What the rules say about a read.
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
        case (.never, _):
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

    // MARK: Remembering

    /// An item that a person was asked about once.
    private struct Remembered: Hashable {
        let caller: RuleCaller?
        /// The connection of a caller that nothing identifies; empty for others.
        let client: String
        let item: ItemReference
    }

    private func memory(_ item: ItemReference, for client: Client) -> Remembered {
        let caller = selection(for: client).caller
        guard let caller, !caller.claims.isEmpty else {
            return Remembered(caller: nil, client: client.name, item: item)
        }
        return Remembered(caller: caller, client: "", item: item)
    }

    private func isRemembered(_ item: ItemReference, for client: Client) -> Bool {
        !remembered.isEmpty && remembered.contains(memory(item, for: client))
    }

    /// Remembers that a person has allowed an item to a program, until ``forget()``.
    func remember(_ item: ItemReference, for client: Client) {
        remembered.insert(memory(item, for: client))
    }

    /// Forgets what was asked once, as the screen is locked or the login session ends.
    func forget() {
        let forgotten = remembered
        remembered = []
        for memory in forgotten { memory.caller.map { onForget?($0, memory.item) } }
    }

    // MARK: Telling

    /// Counts a decision, and tells a person if the rule says so; the rule's text is for the audit.
    ///
    /// - Parameter isRelease: whether the item was read, and not refused.
    func record(
        _ decision: RuleDecision,
        on id: ItemID,
        in collection: Collection,
        for client: Client,
        isRelease: Bool
    ) -> String {
        guard let entry = decision.entry else { return "" }
        let now = clock()
        uses[entry.id, default: Use(last: now)].count &+= 1
        uses[entry.id]?.last = now
        if isRelease, decision.action == .notify {
            let read = ProgramRead(
                identity: client.rules.state?.caller?.main?.identity.text ?? "",
                caller: client.rules.state?.text ?? "",
                item: .item(id, in: collection.name),
                rule: entry.rule.text
            )
            onNotice?(read)
        }
        return entry.rule.text
    }

    /// What would be decided for a caller, without counting it.
    func test(_ caller: RuleCaller?, _ subject: RuleSubject) -> RuleDecision {
        loadIfPossible()
        return set.selection(for: caller, at: clock()).decision(on: subject)
    }

    /// The items that the rules share with a program: those that a rule about it lets it have, by their number.
    func shared(with identity: ProgramIdentity, in collection: Collection) -> Set<ItemID> {
        guard isActive else { return [] }
        loadIfPossible()
        let now = clock()
        let sharing = set.entries.filter { entry in
            entry.rule.action != .never && !entry.rule.hasEnded(at: now)
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
            if selection.decision(on: subject).action != .never { shared.insert(id) }
        }
        if sharedItems.count >= SharedItems.limit { sharedItems = [:] }
        sharedItems[key] = SharedItems(state: state, rules: sharing.map(\.id), items: shared)
        return shared
    }
}

/// The items that rules share with a program, which looks at them with each call.
private struct SharedItems {
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
    /// Those in force: one may have ended.
    let rules: [String]
    let items: Set<ItemID>
}

/// The rules about one client, found at its first read.
@BusActor
final class ClientRules {
    @BusActor
    final class State {
        let selection: RuleSelection
        /// Nil if the caller cannot be seen, or no longer.
        let caller: RuleCaller?
        /// The caller in the audit.
        let text: String
        let generation: Int
        fileprivate(set) var looked: ContinuousClock.Instant

        fileprivate init(
            _ selection: RuleSelection,
            about caller: RuleCaller?,
            text: String,
            generation: Int,
            looked: ContinuousClock.Instant
        ) {
            self.selection = selection
            self.caller = caller
            self.text = text
            self.generation = generation
            self.looked = looked
        }
    }

    fileprivate(set) var state: State?

    nonisolated init() {}
}
