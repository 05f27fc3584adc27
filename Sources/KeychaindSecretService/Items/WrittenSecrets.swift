import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// An item that a client may read.
struct ReadableItem {
    let collection: Collection
    let id: ItemID
    let grant: ItemGrant?
}

/// Such an item, and the path under which it was requested.
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
    private(set) var haveGrants = false

    init(in writer: inout Writer, upTo limit: Int) {
        array = writer.beginArray(of: WrittenSecrets.entrySignature)
        self.limit = limit
    }

    static func writeNone(to writer: inout Writer) {
        writer.writeArray(of: entrySignature) { _ in }
    }

    /// The collections of the items.
    var collections: [Collection] { states.map { $0.collection } }

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
        entries.append(Entry(item: item, revision: revision, number: number))
        if item.grant != nil { haveGrants = true }
        guard states.last?.collection !== item.collection else { return }
        if !states.contains(where: { $0.collection === item.collection }) {
            states.append(State(collection: item.collection, changeCount: item.collection.changeCount))
        }
    }

    /// Removes the secrets of items that have changed since they were written, and returns the numbers of the requests.
    ///
    /// In slices of time; in one go if something changes meanwhile.
    mutating func removeChanged(from writer: inout Writer, _ slice: inout TimeSlice) async -> [Int] {
        guard haveChanges else { return [] }
        noteStates()
        var changed: [Int] = []
        for index in entries.indices {
            await slice.yieldIfOver()
            if hasChanged(entries[index]) { changed.append(index) }
        }
        if haveChanges {
            noteStates()
            changed = entries.indices.filter { hasChanged(entries[$0]) }
        }
        let numbers = changed.map { entries[$0].number }
        remove(Set(changed), from: &writer)
        return numbers
    }

    /// Removes the secrets of items for which the condition does not hold, in one go.
    mutating func keep(in writer: inout Writer, where condition: (ReadableItem) -> Bool) {
        remove(Set(entries.indices.filter { !condition(entries[$0].item) }), from: &writer)
    }

    consuming func end(in writer: inout Writer) {
        writer.end(array)
    }

    private var haveChanges: Bool { states.contains { $0.hasChanged } }

    private func hasChanged(_ entry: Entry) -> Bool {
        !entry.item.collection.hasSecret(of: entry.revision)
    }

    private mutating func noteStates() {
        for index in states.indices { states[index].changeCount = states[index].collection.changeCount }
    }

    private mutating func remove(_ numbers: Set<Int>, from writer: inout Writer) {
        guard !numbers.isEmpty else { return }
        writer.remove(numbers, from: &array)
        entries = entries.indices.lazy.filter { !numbers.contains($0) }.map { entries[$0] }
    }
}
