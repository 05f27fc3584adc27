import KeychaindLog
package import KeychaindModel

/// A keychain: a named set of items under one password, stored in one file.
///
/// It belongs to the isolation of its vault. Asynchronous methods use the disk or derive a key, and resume in the
/// caller's isolation; all others answer at once.
package final class Collection {
    package enum State: Equatable, Sendable {
        /// There is no file; the first ``Collection/unlock(with:begun:)`` creates it with that password.
        case vacant

        /// The secrets cannot be read. Labels and attributes can, after the first unlock since the start.
        case locked

        /// A password is being tried; wait with ``Collection/onSettled(_:)``.
        case unlocking

        case unlocked

        /// The file cannot be read and is left as it is.
        case unreadable(reason: String)
    }

    enum Storage {
        /// None: there is no file, or it is closed or unreadable.
        case none

        /// None: the file that was there is gone.
        case missing

        /// In memory, for the life of the process.
        case memory(EphemeralStore)

        /// In a file, owned by a worker.
        case file(Worker<CollectionWriter>)
    }

    package let name: CollectionName

    package var state: State { phase.state }

    /// The problems of the file, in words for a person; nil when there are none.
    package var problem: String? {
        let state = name == .login ? context.state.problem : nil
        var problems =
            self.problems + [rollback, replacement?.problem, ledger.problem, disk.problem, state].compactMap(\.self)
        if case .unreadable(let reason) = phase, !problems.contains(reason) { problems.insert(reason, at: 0) }
        if let copyObstacle { problems.append(copyObstacle) }
        if let foundDamage { problems.append(foundDamage.problem) }
        if let wayBack { problems.append(wayBack) }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    /// Whether there is a ``problem``.
    package var hasProblem: Bool {
        if !problems.isEmpty || rollback != nil || replacement != nil { return true }
        if ledger.hasProblem || disk != .working || condition != .sound || copyObstacle != nil || foundDamage != nil {
            return true
        }
        if case .unreadable = phase { return true }
        return name == .login && context.state.problem != nil
    }

    private var wayBack: String? {
        switch (condition, phase) {
        case (.sound, _) where foundDamage == nil: nil
        case (_, .unreadable): "keychainctl restore lists past states, which can be put back"
        case (.sound, _), (.damaged, _):
            """
            keychainctl salvage takes what is intact into a new file, and keychainctl restore lists past states
            """
        }
    }

    let context: VaultContext
    var storage: Storage
    /// The items; read in place, as a copy would count five references for each look at an item.
    var table: ItemTable {
        _read { yield storedTable }
        _modify {
            defer { changeCount &+= 1 }
            yield &storedTable
        }
    }
    private var storedTable = ItemTable()
    var properties: CollectionState
    var header: CollectionHeader?

    /// The phase, with the keys that belong to it.
    var phase: CollectionPhase {
        didSet {
            changeCount &+= 1
            settle()
        }
    }

    /// Changes with every change of the items or of the state.
    package private(set) var changeCount: UInt64 = 0

    /// The keys that stay after the first unlock since the start.
    var keys: CollectionKeys?
    var commits = CommitPhase.idle

    /// The number of items that the running write protects, and that are not protected in memory yet.
    var newlyProtectedCount = 0

    /// The foreign file in place of this collection's; nil if there is none.
    ///
    /// Another state is known once the collection was unlocked, another collection before.
    package internal(set) var replacement: Replacement?

    /// The file that the collection had before; nil if it had none.
    var recorded: KnownCollection?

    /// The number by which this vault knows its own changes in the file.
    var vaultNumber = UInt64.random(in: .min ... .max)

    var problems: [String] = []
    /// What the ledger knows and the file lacks, in words for a person; nil if nothing.
    ///
    /// No damage: copies are made.
    var rollback: String?
    /// The file that a person has restored; nil if none was.
    var restoredPosition: LogPosition?
    /// The file as it was when the items were read.
    var position: LogPosition?
    var condition = FileCondition.sound
    /// The damage found in the file since it was read; memory has the items that were intact then.
    var foundDamage: FoundDamage? {
        didSet { if foundDamage != oldValue { context.observer.onProblem?(name) } }
    }
    /// Why backups cannot be made, in words for a person; nil if nothing is known against it.
    var copyObstacle: String? {
        didSet { if copyObstacle != oldValue { context.observer.onProblem?(name) } }
    }
    var disk = DiskPhase.working {
        didSet { if disk != oldValue { context.observer.onProblem?(name) } }
    }
    var ledger = LedgerPhase.unread

    /// Whether a backup waits for the first unlock since the start.
    var awaitsBackup = false

    /// Whether nothing was missing, or changed without the key, when the items were read.
    var isWhole = true

    /// The kind of key slot that unlocked the collection last; nil before, and after its creation.
    package internal(set) var unlockedBy: KeySlotInfo.Kind?

    private var settledActions: [() -> Void] = []

    init(_ name: CollectionName, label: String, phase: CollectionPhase, storage: Storage, context: VaultContext) {
        self.name = name
        self.phase = phase
        self.storage = storage
        self.context = context
        let now = context.configuration.now()
        properties = CollectionState(created: now, modified: now, label: label)
    }

    package var label: String { properties.label }

    package var created: Timestamp { properties.created }

    /// The time of the last change of the collection or an item.
    package var modified: Timestamp { properties.modified }

    /// Whether the collection lives in memory; it cannot be locked or deleted.
    package var isEphemeral: Bool {
        if case .memory = storage { true } else { false }
    }

    /// The identifier that all sealed data is bound to; empty when there is no file.
    var identifier: [UInt8] {
        if case .memory(let store) = storage { store.identifier } else { header?.identifier ?? [] }
    }

    package var isBeingMade: Bool {
        if case .unlocking = phase, case .none = storage { true } else { false }
    }

    /// Calls `action` once the state is not ``State/unlocking``, or at once.
    package func onSettled(_ action: @escaping () -> Void) {
        if case .unlocking = phase { settledActions.append(action) } else { action() }
    }

    /// The public key that protected items are sealed to, when it is known.
    var passcodePublicKey: [UInt8]? { keys?.passcodePublicKey }

    package var isDeleted: Bool {
        if case .deleted = phase { true } else { false }
    }

    /// Whether another object has taken its place, or is about to.
    package var isRetired: Bool {
        if case .retired = phase { true } else { false }
    }

    /// Whether it is deleted, or another object is about to take its place.
    var hasEnded: Bool {
        switch phase {
        case .deleted, .retired: true
        case .vacant, .locked, .unlocking, .unlocked, .unreadable: false
        }
    }

    package var itemIDs: [ItemID] { table.ids }

    package var itemCount: Int { table.count }

    package func contains(_ id: ItemID) -> Bool {
        table.contains(id)
    }

    /// Returns what is known of an item in the current state; nil when there is none.
    package func item(_ id: ItemID) -> Item? {
        table.item(id)
    }

    /// Nil if the item does not exist; empty if it is unknown.
    package func attributes(of id: ItemID) -> Attributes? {
        table.attributes(of: id)
    }

    /// Nil if the item does not exist, or is unknown before the first unlock.
    package func created(of id: ItemID) -> Timestamp? {
        table.created(of: id)
    }

    package func modified(of id: ItemID) -> Timestamp? {
        table.modified(of: id)
    }

    /// Returns the item that a creation would replace (#94); see ``ItemTable/itemToReplace(_:tags:having:except:)``.
    package func itemToReplace(
        _ attributes: Attributes,
        having replaced: Attributes = Attributes(),
        except kept: Set<ItemID> = []
    ) -> ItemID? {
        guard let tags = try? context.indexKey.tags(of: attributes.compared) else { return nil }
        return table.itemToReplace(attributes, tags: tags, having: replaced, except: kept)
    }

    private func settle() {
        guard !settledActions.isEmpty else { return }
        if case .unlocking = phase { return }
        let actions = settledActions
        settledActions = []
        for action in actions { action() }
    }
}
