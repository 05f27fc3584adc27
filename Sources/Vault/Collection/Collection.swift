package import KeychainModel
import Logging

/// A keychain: a named set of items under one password, in one file.
///
/// It belongs to whichever isolation made its vault. Everything that can be told at once is told at once; what waits for the
/// disk or for a key derivation is asynchronous, resumes where it was called, and blocks nobody meanwhile.
package final class Collection {
    /// Whether the collection is unlocked, and if not, why.
    package enum State: Equatable, Sendable {
        /// There is no file yet: the first ``Collection/unlock(with:)`` makes it, with that password.
        case vacant

        /// The secrets cannot be read; labels and attributes can, once it has been unlocked since the process started.
        case locked

        /// A password is being tried; use ``Collection/onSettled(_:)`` to wait.
        case unlocking

        /// The secrets can be read.
        case unlocked

        /// The file cannot be read, and is left as it is.
        case unreadable(reason: String)
    }

    /// Where the items are kept.
    enum Storage {
        /// Nowhere: there is no file, or it is closed or unreadable.
        case none

        /// In memory, for as long as the process runs.
        case memory(EphemeralStore)

        /// In a file, which its worker has.
        case file(Worker<CollectionWriter>)
    }

    /// The name, which never changes.
    package let name: CollectionName

    /// Whether the collection is unlocked.
    package var state: State { phase.state }

    /// What is wrong with the file, in words for a person; nil when all is well.
    package var problem: String? {
        let problems = self.problems + (ledgerProblem.map { problem in [problem] } ?? [])
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    let context: VaultContext
    var storage: Storage
    var table = ItemTable()
    var properties: CollectionState
    var header: CollectionHeader?

    /// What the collection is doing.
    var phase: CollectionPhase {
        didSet { settle() }
    }

    /// The keys that stay, once labels and attributes have been read since the process started.
    var keys: CollectionKeys?

    /// Who writes, and who waits for that.
    var commits = CommitPhase.idle

    var problems: [String] = []

    /// What is known of protected items beside the file.
    var ledger = LedgerPhase.unread

    /// What is wrong with that, which is no damage of the file.
    var ledgerProblem: String?

    /// What it was last unlocked with; nil before the first time, and when it was made.
    package internal(set) var unlockedBy: KeySlotInfo.Kind?

    /// When a generation was last asked for.
    var lastGeneration: Timestamp?

    private var settledActions: [() -> Void] = []

    init(_ name: CollectionName, label: String, phase: CollectionPhase, storage: Storage, context: VaultContext) {
        self.name = name
        self.phase = phase
        self.storage = storage
        self.context = context
        let now = context.configuration.now()
        properties = CollectionState(created: now, modified: now, label: label)
    }

    /// The name for people.
    package var label: String { properties.label }

    /// When the collection was made.
    package var created: Timestamp { properties.created }

    /// When the collection or an item of it was last changed.
    package var modified: Timestamp { properties.modified }

    /// Whether the collection lives in memory only, so that it is neither locked nor deleted.
    package var isEphemeral: Bool {
        if case .memory = storage { true } else { false }
    }

    /// What everything sealed is bound to; empty when there is no file.
    var identifier: [UInt8] {
        if case .memory(let store) = storage { store.identifier } else { header?.identifier ?? [] }
    }

    /// Whether a password is being tried that makes the collection: until then it has nothing that anybody could ask for.
    package var isBeingMade: Bool {
        if case .unlocking = phase, case .none = storage { true } else { false }
    }

    /// Calls `action` once when the state is no longer ``State/unlocking``; at once when it is not.
    package func onSettled(_ action: @escaping () -> Void) {
        if case .unlocking = phase { settledActions.append(action) } else { action() }
    }

    /// What items are sealed to that ask for the passcode, once it is known.
    var passcodePublicKey: [UInt8]? { keys?.passcodePublicKey }

    /// Whether the collection was deleted.
    var isDeleted: Bool {
        if case .deleted = phase { true } else { false }
    }

    /// The numbers of the items, rising.
    package var itemIDs: [ItemID] { table.ids }

    /// How many items there are.
    package var itemCount: Int { table.count }

    /// Whether there is an item of that number.
    package func contains(_ id: ItemID) -> Bool {
        table.contains(id)
    }

    /// What can be told of an item in the present state; nil when there is none.
    package func item(_ id: ItemID) -> Item? {
        table.item(id)
    }

    /// When an item was last changed; nil when there is none.
    package func modified(of id: ItemID) -> Timestamp? {
        table.modified(of: id)
    }

    /// The items that have all of the attributes (#63, #64), the last modified first; all items when there are none (#65).
    ///
    /// It answers in every state. Before the first unlock it matches by blind tags; one pair of names and values in 2⁶⁴ could
    /// match in error.
    package func search(_ attributes: Attributes) -> [ItemID] {
        guard table.count > 0 else { return [] }
        do throws(VaultError) {
            return table.search(attributes, tags: try context.indexKey.tags(of: attributes))
        } catch {
            context.configuration.logger.error("\(name): a search failed: \(error)")
            return []
        }
    }

    /// The item that ``createItem(label:attributes:secret:replacing:applicationPassword:authenticated:)`` would replace (#94).
    ///
    /// Of the intact items whose attributes are equal, `keychain:` names aside, it is one with the access control that is asked for,
    /// else a protected one, else the newest. Items without attributes are equal to one another.
    package func itemToReplace(_ attributes: Attributes) -> ItemID? {
        guard let tags = try? context.indexKey.tags(of: attributes.withoutReserved) else { return nil }
        return table.itemToReplace(attributes, tags: tags)
    }

    private func settle() {
        guard !settledActions.isEmpty else { return }
        if case .unlocking = phase { return }
        let actions = settledActions
        settledActions = []
        for action in actions { action() }
    }
}
