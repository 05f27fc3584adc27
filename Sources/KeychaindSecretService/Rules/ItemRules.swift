import KeychaindDBus
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
    let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private var users = Users.unread
    private(set) var administrators = AdministratorRules.none
    private(set) var set = RuleSet()
    /// Changes with the rules.
    private(set) var generation = 0
    private(set) var uses: [String: Use] = [:]
    private(set) var bindings: [String: StoredRule.Binding] = [:]
    var sharedItems: [SharedItems.Key: SharedItems] = [:]
    private var remembered: Set<Remembered> = []
    /// Changes whenever an answer to `ask-once` is forgotten.
    private(set) var forgettings = 0
    private let writing = KeyedLock<Int>()

    /// Whether there are rules.
    private(set) var isActive = false

    /// Whether a rule hides items from a program.
    private(set) var hidesItems = false

    /// Called for each read that a rule reports to the person.
    var onNotice: (@BusActor (ProgramRead) -> Void)?

    /// Called after a change of the rules.
    var onChange: (@BusActor () -> Void)?

    /// Called for an item that is locked to a caller again, since its answer to `ask-once` is forgotten.
    var onForget: (@BusActor (RuleCaller, ItemReference) -> Void)?

    init(vault: Vault, clock: @escaping @Sendable () -> Timestamp = { Timestamp.now() }, logger: Logger) {
        self.vault = vault
        self.clock = clock
        self.logger = logger
    }

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
    func loadIfPossible() {
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
        hidesItems = set.hidesItems
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

    /// An item that a person has allowed by `ask-once`.
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

    func isRemembered(_ item: ItemReference, for client: Client) -> Bool {
        !remembered.isEmpty && remembered.contains(memory(item, for: client))
    }

    /// Remembers that a person has allowed an item to a program, until it is forgotten.
    func remember(_ item: ItemReference, for client: Client) {
        remembered.insert(memory(item, for: client))
    }

    /// Forgets all answers to `ask-once`, as the screen is locked or the login session ends.
    func forget() {
        forgettings += 1
        let forgotten = remembered
        remembered = []
        for memory in forgotten { memory.caller.map { onForget?($0, memory.item) } }
    }

    /// Forgets the answers about a deleted item.
    func forget(_ item: ItemReference) {
        forget { $0 == item }
    }

    /// Forgets the answers about the items of a collection, whose paths may belong to others now.
    func forget(in collection: CollectionName) {
        forget { $0.collection == collection }
    }

    private func forget(where isMeant: (ItemReference) -> Bool) {
        guard remembered.contains(where: { isMeant($0.item) }) else { return }
        forgettings += 1
        remembered = remembered.filter { !isMeant($0.item) }
    }

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

    /// The decision that a caller would get, without counting it.
    func test(_ caller: RuleCaller?, _ subject: RuleSubject) -> RuleDecision {
        loadIfPossible()
        return set.selection(for: caller, at: clock()).decision(on: subject)
    }
}
