import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// An item that a client may read.
struct ReadableItem {
    let collection: Collection
    let id: ItemID
    let grant: ItemGrant?
}

/// A readable item, and the path under which it was requested.
struct WantedItem {
    let path: ObjectPath
    let item: ReadableItem
}

/// The secrets in a reply, written as they are opened; some can be removed until it is sent.
@BusActor
struct WrittenSecrets {
    nonisolated private static let entrySignature = "{o\(EncodedSecret.signature)}"
    nonisolated static let signature = "a\(entrySignature)"

    /// Has no path: to free a string for each entry would take long.
    private struct Entry {
        let item: ReadableItem
        let revision: ItemRevision
        /// The number of the request.
        let number: Int
        var finding = ReadCheck.Finding.open
    }

    /// The state of a collection.
    private struct State {
        let collection: Collection
        var changeCount: UInt64

        var hasChanged: Bool { collection.changeCount != changeCount }
    }

    private var array: Writer.OpenArray
    /// Maximum bytes of the reply.
    private let limit: Int
    private var entries: [Entry] = []
    private var states: [State] = []
    /// The items whose release is audited already, but which have changed since, by the number of the request.
    private var audited: [Int: ReadableItem] = [:]
    private(set) var haveGrants = false

    init(in writer: inout Writer, upTo limit: Int) {
        array = writer.beginArray(of: WrittenSecrets.entrySignature)
        self.limit = limit
    }

    static func writeNone(to writer: inout Writer) {
        writer.writeArray(of: entrySignature) { _ in }
    }

    /// Writes a secret that was just read; throws `LimitsExceeded` if the reply is too large.
    ///
    /// - Parameter number: that of the request.
    mutating func add(
        _ wanted: WantedItem,
        _ revision: ItemRevision,
        _ number: Int,
        _ secret: borrowing EncodedSecret,
        to writer: inout Writer
    ) throws(BusError) {
        let item = wanted.item
        writer.write(in: &array) { writer in
            writer.writeEntry { writer in
                wanted.path.write(to: &writer)
                secret.write(to: &writer)
            }
        }
        guard writer.byteCount(of: array) <= limit else {
            throw BusError(
                .limitsExceeded,
                "the secrets together are larger than \(limit) bytes; request fewer at a time"
            )
        }
        let earlier = audited.removeValue(forKey: number)
        // The path of the request may be that of another item by now.
        let isAudited = earlier.map { $0.id == item.id && $0.collection === item.collection } ?? false
        entries.append(
            Entry(item: item, revision: revision, number: number, finding: isAudited ? .audited : .open)
        )
        if item.grant != nil { haveGrants = true }
        guard states.last?.collection !== item.collection else { return }
        if !states.contains(where: { $0.collection === item.collection }) {
            states.append(State(collection: item.collection, changeCount: item.collection.changeCount))
        }
    }

    /// Removes the secrets of items that have changed since they were written or that the client may no longer read,
    /// and returns the numbers of the requests for the former.
    ///
    /// The last time, a secret that was replaced meanwhile stays: a reader would take a missing one for deleted.
    ///
    /// Grants are yet to be used, by ``useGrants(in:_:)``; until then, nothing may be awaited.
    mutating func removeOutdated(from writer: inout Writer, _ check: ReadCheck, keepsChanged: Bool) -> [Int] {
        let haveChanges = states.contains { $0.hasChanged }
        guard haveChanges || haveGrants || check.isNeeded(for: states.map { $0.collection }) else { return [] }
        for index in states.indices { states[index].changeCount = states[index].collection.changeCount }
        var changed: [Int] = []
        var outdated: Set<Int> = []
        for index in entries.indices where isOutdated(index, check, keepsChanged, &changed) { outdated.insert(index) }
        remove(outdated, from: &writer)
        return changed
    }

    /// Uses the grants of items, and removes the secrets of those whose grant has ended.
    mutating func useGrants(in writer: inout Writer, _ check: ReadCheck) {
        var ended: Set<Int> = []
        for (index, entry) in entries.enumerated() where entry.finding == .granted {
            if !check.useGrant(of: entry.item) { ended.insert(index) }
        }
        remove(ended, from: &writer)
    }

    /// Whether the release of one of them is audited.
    var areAudited: Bool { entries.contains { entry in entry.finding == .audited || entry.finding == .granted } }

    /// Whether they are still there for a client, and as they were written.
    func areCurrent(for client: Client) -> Bool {
        entries.allSatisfy { entry in
            let (collection, id) = (entry.item.collection, entry.item.id)
            return !collection.isLocked && client.sees(id, in: collection) && collection.hasSecret(of: entry.revision)
        }
    }

    consuming func end(in writer: inout Writer) {
        writer.end(array)
    }

    /// Whether an item has changed, whose request is noted then, or may no longer be read.
    private mutating func isOutdated(
        _ index: Int,
        _ check: ReadCheck,
        _ keepsChanged: Bool,
        _ changed: inout [Int]
    ) -> Bool {
        let entry = entries[index]
        let collection = entry.item.collection
        guard collection.hasSecret(of: entry.revision) || keepsChanged && collection.revision(of: entry.item.id) != nil
        else {
            changed.append(entry.number)
            if entry.finding == .audited { audited[entry.number] = entry.item }
            return true
        }
        let finding = check.check(entry.item, after: entry.finding)
        entries[index].finding = finding
        return finding == .refused
    }

    private mutating func remove(_ numbers: Set<Int>, from writer: inout Writer) {
        guard !numbers.isEmpty else { return }
        writer.remove(numbers, from: &array)
        entries = entries.indices.lazy.filter { !numbers.contains($0) }.map { entries[$0] }
    }
}

/// Checks again, before a reply is sent, whether the client may read the items whose secrets are in it.
@BusActor
struct ReadCheck {
    /// The result of a check.
    enum Finding {
        /// It may be read, and nothing is to be audited.
        case open
        /// It may be read by a rule, and that is audited.
        case audited
        /// It may be read by a grant, which is to be used.
        case granted
        case refused
    }

    let client: Client
    let access: ItemAccess

    /// Whether the items of some of the collections are checked one by one.
    func isNeeded(for collections: [Collection]) -> Bool {
        // What a program in a sandbox sees may have changed, too.
        client.view.isConfined || collections.contains { !access.isOpen($0) }
    }

    /// Checks an item, and audits what a rule has decided unless an earlier check has.
    func check(_ item: ReadableItem, after earlier: Finding) -> Finding {
        guard client.sees(item.id, in: item.collection) else { return .refused }
        if item.grant == nil, access.isOpen(item.collection) { return earlier == .audited ? .audited : .open }
        guard let permission = try? access.authorize(item.id, in: item.collection, for: client, isFound: true) else {
            return .refused
        }
        if permission.takesGrant { return .granted }
        if earlier == .audited { return .audited }
        access.use(permission, of: item.id, in: item.collection, by: client)
        return permission.isAudited ? .audited : .open
    }

    /// Uses and audits the grant of an item; false if access has ended.
    func useGrant(of item: ReadableItem) -> Bool {
        (try? access.release(item.id, in: item.collection, to: client)) != nil
    }
}
