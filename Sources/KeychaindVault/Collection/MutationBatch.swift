import KeychaindGcrypt
import KeychaindModel

/// Changes to write in one transaction, checked against the committed state.
///
/// A change that may depend on another in the batch waits for the next batch.
struct MutationBatch {
    // Everybody in a batch waits for all of it, so its size is bounded.
    private static let maximumCount = 128
    private static let maximumSecretBytes = 4 << 20

    private let limits: VaultLimits
    private let indexKey: BlindIndexKey
    private let now: Timestamp
    private let collection: [UInt8]
    private let takesUnsealed: Bool
    private(set) var change: CollectionChange
    private(set) var mutations: [PendingMutation] = []

    private(set) var outcomes: [ChangeOutcome] = []

    private var oldTags: [[UInt64]] = []
    /// The changed items that were there before.
    private var touched: Set<ItemID> = []
    private var newAttributes: [Attributes] = []
    /// What another change was compared with, instead of ``newAttributes``.
    private var comparedAttributes: Set<Attributes> = []
    private var usage: SandboxUsage
    private var count = 0
    private var secretBytes = 0

    /// - Parameter takesUnsealed: whether the collection accepts items whose access control no key enforces.
    init(
        after state: CollectionState,
        of collection: [UInt8],
        takesUnsealed: Bool,
        now: Timestamp,
        limits: VaultLimits,
        indexKey: BlindIndexKey
    ) {
        self.collection = collection
        self.takesUnsealed = takesUnsealed
        self.limits = limits
        self.indexKey = indexKey
        usage = SandboxUsage(limits: limits, indexKey: indexKey)
        self.now = now
        change = CollectionChange(state: state)
        change.state.modified = now
    }

    var isEmpty: Bool { mutations.isEmpty }

    /// Adds a change; false when it must wait for the next batch.
    ///
    /// Throws when the change itself is impossible.
    mutating func add(_ mutation: PendingMutation, to table: borrowing ItemTable) throws(VaultError) -> Bool {
        let (size, bytes) = (mutation.size, mutation.secretBytes)
        guard isEmpty || (count + size <= Self.maximumCount && secretBytes + bytes <= Self.maximumSecretBytes) else {
            return false
        }
        let outcome: ChangeOutcome?
        switch mutation.request {
        case .create(let item):
            outcome = try create(item, in: table)
        case .update(let id, let change):
            outcome = try update(id, change, in: table)
        case .delete(let deletions):
            outcome = try delete(deletions, in: table)
        case .rename(let label):
            outcome = rename(label)
        case .alone:
            outcome = nil
        }
        guard let outcome else { return false }
        count += size
        secretBytes += bytes
        mutations.append(mutation)
        outcomes.append(outcome)
        return true
    }

    /// Updates the items in memory after the write.
    func apply(to table: inout ItemTable, sealedSecrets: [[UInt8]?]) {
        for (index, row) in change.rows.enumerated() {
            let sealed = index < sealedSecrets.count ? sealedSecrets[index] : nil
            switch row {
            case .insert(let row):
                let metadata = row.metadata.keeping(sealed ?? [])
                table.append(ItemRecord(of: row, metadata), row.protection, tags: row.tags)
            case .update(let row):
                // An unchanged secret came with the metadata.
                let metadata = row.secret == nil ? row.metadata : row.metadata.keeping(sealed ?? [])
                let record = ItemRecord(of: row, metadata, instead: table[row.id])
                table.replace(record, row.protection, oldTags: oldTags[index], newTags: row.tags)
            case .delete(let id):
                table.remove(id, tags: oldTags[index])
            }
        }
    }

    private mutating func create(
        _ item: NewItem,
        in table: borrowing ItemTable
    ) throws(VaultError) -> ChangeOutcome? {
        let comparedTags = item.isReplacing ? try indexKey.tags(of: item.attributes.compared) : nil
        if let comparedTags {
            if hasNewItem(equalTo: item.attributes) { return nil }
            if let id = table.itemToReplace(
                item.attributes,
                tags: comparedTags,
                having: item.replacedAttributes,
                except: item.keptItems
            ) {
                return try update(id, item.update(of: id), in: table)
            }
        }
        try checkPlace(of: item.protection, instead: .none)
        guard change.state.itemCount < limits.items else {
            throw VaultError(.limitExceeded, reason: "the collection is full: it has \(limits.items) items")
        }
        guard let id = ItemID(rawValue: change.state.nextItem) else {
            throw VaultError(.limitExceeded, reason: "the collection has run out of item IDs")
        }
        // Loading would skip the row.
        guard table.accepts(id) else {
            throw VaultError(
                .unreadable,
                reason: "a damaged item has the highest possible ID, so there is none for a new item"
            )
        }
        let revision = nextRevision
        var metadata = ItemMetadata(
            secretRevision: revision,
            created: item.times.created(at: now),
            modified: item.times.modified(at: now),
            label: item.label,
            attributes: item.attributes
        )
        let itemKey = try seal(&metadata, under: item.secret, of: id, revision: revision, as: item.protection)
        let size = SecretsKey.sealedSize(of: item.secret.secret.secret, underItemKey: itemKey != nil)
        try usage.take(ItemUsage(of: metadata, secretBytes: size), of: metadata, if: item.isSandboxed, in: table)
        change.state.nextItem += 1
        change.state.itemCount += 1
        change.state.revision = revision
        let row = ItemRow(
            id: id,
            revision: revision,
            metadata: metadata,
            protection: item.protection,
            tags: try indexKey.tags(ofItem: item.attributes, compared: comparedTags),
            secret: item.secret.secret,
            key: itemKey
        )
        change.rows.append(.insert(row))
        oldTags.append([])
        newAttributes.append(item.attributes)
        return .item(.created(id))
    }

    /// Whether the batch stores an item that a new one might replace.
    private mutating func hasNewItem(equalTo attributes: Attributes) -> Bool {
        let key = { (attributes: Attributes) in attributes.compared.setting(Attributes.schema, to: nil) }
        // Most batches have one change, which is compared with none.
        for attributes in newAttributes { comparedAttributes.insert(key(attributes)) }
        newAttributes = []
        return !comparedAttributes.isEmpty && comparedAttributes.contains(key(attributes))
    }

    private mutating func update(
        _ id: ItemID,
        _ update: PendingUpdate,
        in table: borrowing ItemTable
    ) throws(VaultError) -> ChangeOutcome? {
        if touched.contains(id) { return nil }
        guard let record = table[id] else { throw VaultError.noItem(id) }
        guard record.condition == .intact, !table.isDamaged(id) else {
            throw VaultError(.unreadable, reason: "item \(id) is damaged and cannot be changed")
        }
        try table.checkAuthorization(of: id, isAuthenticated: update.isAuthenticated)
        try table.check(update.revision, of: record)
        try table.check(update.basis, of: record)
        let revision = nextRevision
        var metadata = record.metadata
        metadata.modified = update.times.modified(at: now)
        if update.times.created != nil { metadata.created = update.times.created(at: now) }
        if let label = update.label { metadata.label = label }
        switch update.attributes {
        case .none: break
        case .all(let attributes):
            let old = record.metadata.attributes
            metadata.attributes = attributes.keepingSchema(of: old).stamped(by: old[Attributes.program])
            try limits.check(metadata.attributes)
        case .one(let name, let value):
            metadata.attributes = metadata.attributes.setting(name, to: value)
            try limits.check(metadata.attributes)
        }
        let protection = ItemProtection(of: metadata.attributes)
        try checkPlace(of: protection, instead: ItemProtection(of: record.metadata.attributes))
        let itemKey = try seal(&metadata, under: update.secret, of: id, revision: revision, as: protection)
        let size =
            update.secret.map { new in SecretsKey.sealedSize(of: new.secret.secret, underItemKey: itemKey != nil) }
            ?? Int(record.secretBytes)
        try usage.take(
            ItemUsage(of: metadata, secretBytes: size),
            instead: ItemUsage(of: record),
            of: metadata,
            if: update.isSandboxed,
            in: table
        )
        let oldTags = try indexKey.tags(ofItem: record.metadata.attributes)
        let newTags =
            metadata.attributes == record.metadata.attributes ? oldTags : try indexKey.tags(ofItem: metadata.attributes)
        let row = ItemRow(
            id: id,
            revision: revision,
            metadata: metadata,
            protection: protection,
            tags: newTags,
            secret: update.secret?.secret,
            key: itemKey
        )
        change.state.revision = revision
        append(.update(row), oldTags: oldTags)
        newAttributes.append(metadata.attributes)
        return .item(.replaced(id))
    }

    /// Throws for an access control that no key enforces, unless the collection accepts that.
    ///
    /// Only `login` does: a program may know the password of any other collection and open the item with its own
    /// daemon. Items that already have such an access control keep it.
    private func checkPlace(of protection: ItemProtection, instead old: ItemProtection) throws(VaultError) {
        guard !takesUnsealed, protection.needsAuthentication, protection.keyAlternatives == nil,
            protection.policy != old.policy
        else { return }
        throw VaultError(
            .notSupported,
            reason: """
                only the login keychain takes an item that can be used without the passcode or a password of its own: \
                store it there, or ask for devicePasscode
                """
        )
    }

    /// Seals the secret as the item's attributes require, and returns its item key, if any.
    private func seal(
        _ metadata: inout ItemMetadata,
        under secret: NewSecret?,
        of id: ItemID,
        revision: UInt64,
        as protection: ItemProtection
    ) throws(VaultError) -> ItemKey? {
        if secret != nil { metadata.secretRevision = revision }
        var itemKey: ItemKey?
        switch secret {
        case nil: break
        case .ordinary: metadata.wraps = nil
        case .underKey(_, let key): itemKey = key
        case .underNewKey(_, let newKey):
            itemKey = try cipher { () throws(GcryptError) in
                metadata.wraps = try newKey.wraps(of: id, revision: revision, collection: collection)
                return try newKey.key(of: id, revision: revision, collection: collection)
            }
        }
        guard protection.keyAlternatives == metadata.wraps?.alternatives else {
            throw VaultError.itemChanged(id)
        }
        return itemKey
    }

    /// Deletes different items; none unless all can be.
    private mutating func delete(
        _ deletions: [ItemDeletion],
        in table: borrowing ItemTable
    ) throws(VaultError) -> ChangeOutcome? {
        for deletion in deletions where touched.contains(deletion.id) { return nil }
        var rows: [(row: RowChange, oldTags: [UInt64])] = []
        rows.reserveCapacity(deletions.count)
        for deletion in deletions { rows.append(try row(of: deletion, in: table)) }
        change.state.revision = nextRevision
        for (row, oldTags) in rows {
            if change.state.itemCount > 0 { change.state.itemCount -= 1 }
            if let record = table[row.id] { usage.giveBack(record) }
            append(row, oldTags: oldTags)
        }
        return .done
    }

    private func row(
        of deletion: ItemDeletion,
        in table: borrowing ItemTable
    ) throws(VaultError) -> (row: RowChange, oldTags: [UInt64]) {
        let id = deletion.id
        guard let record = table[id] else { throw VaultError.noItem(id) }
        try table.checkAuthorization(of: id, isAuthenticated: deletion.isAuthenticated)
        try table.check(deletion.revision, of: record)
        let oldTags =
            if let stored = table.storedTags(of: id) { stored } else {
                try indexKey.tags(ofItem: record.metadata.attributes)
            }
        return (.delete(id), oldTags)
    }

    private mutating func rename(_ label: String) -> ChangeOutcome {
        // Of several labels the last one wins, as if each had been written.
        change.state.revision = nextRevision
        change.state.label = label
        return .done
    }

    private mutating func append(_ row: RowChange, oldTags: [UInt64]) {
        change.rows.append(row)
        self.oldTags.append(oldTags)
        touched.insert(row.id)
    }

    /// The revision of the next change; the counter cannot wrap: at a billion changes a second that takes centuries.
    private var nextRevision: UInt64 { change.state.revision &+ 1 }
}
