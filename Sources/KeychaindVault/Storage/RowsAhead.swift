import KeychaindGcrypt
import KeychaindModel
import Synchronization

/// All rows of a file, read while the key to open them is still being derived.
///
/// Only rows without any fault are opened here. Otherwise ``CollectionLoader`` reads the file again, and finds out what
/// is wrong with it.
final class RowsAhead {
    private weak var file: CollectionFile?
    private let dataVersion: Int64
    private let sealedState: [UInt8]
    private var rows: Rows

    /// Reads all rows; nil if they are too many, or have IDs that no item can have.
    ///
    /// - Parameters:
    ///   - size: that of the file and its journal.
    ///   - items: the number to reserve memory for.
    ///   - body: called with each item and its tags.
    init?(
        of file: CollectionFile,
        size: Int,
        items: Int,
        secretsUpTo limit: Int,
        _ body: (ItemRecord, StoredTags) -> Void = { _, _ in }
    ) throws(VaultError) {
        guard let sealed = SealedRows(size: size) else { return nil }
        self.file = file
        dataVersion = try file.dataVersion()
        sealedState = try file.state()
        var rows = Rows(sealed: sealed, reserving: items)
        var isWhole = true
        try file.forEachRow(secretsUpTo: limit) { (row) throws(VaultError) in
            guard isWhole, let id = UInt64(exactly: row.id).flatMap(ItemID.init(rawValue:)), rows.append(row, id) else {
                isWhole = false
                return
            }
            body(ItemRecord(id: id, revision: row.revision), StoredTags(row.tags))
        }
        guard isWhole else { return nil }
        self.rows = rows
    }

    /// Opens all rows, on two threads; nil unless they are genuine, all that the collection had, and still in the file.
    ///
    /// - Parameter table: the items and index as known without keys.
    func open(
        with keys: CollectionKeys,
        in present: CollectionFile?,
        into table: consuming ItemTable
    ) throws(VaultError) -> LoadedContents? {
        guard let file, file === present, try file.dataVersion() == dataVersion,
            let state = try keys.openState(sealedState), state.itemCount == UInt64(rows.records.count)
        else { return nil }
        let result = openAll(with: keys)
        // Shared records would be copied with the next change.
        let records = rows.records
        rows.records = []
        guard result.isSound, result.hash == state.hash, table.fill(records, protections: result.protections) else {
            return nil
        }
        return LoadedContents(table: table, sealedState: state, isWhole: true, problems: [])
    }

    private func openAll(with keys: CollectionKeys) -> OpenedRows {
        let progress = Progress()
        let (sealed, parts, revisions) = (rows.sealed, rows.parts, rows.revisions)
        rows.records.withUnsafeMutableBufferPointer { records in
            // Each part is taken by one thread, and has records of its own.
            nonisolated(unsafe) let records = records
            SharedWork.run("opening rows") {
                if progress.takesSum() { progress.add(Self.sum(of: revisions, keys)) }
                progress.add(Self.open(sealed, parts, until: progress, into: records, keys))
            }
        }
        return progress.result
    }

    /// The work that is left, and the result of the rest.
    private final class Progress: Sendable {
        private let nextPart = Atomic(0)
        private let sumIsTaken = Atomic(false)
        private let sum = Mutex(OpenedRows())

        var result: OpenedRows { sum.withLock { sum in sum } }

        func takePart() -> Int { nextPart.add(1, ordering: .relaxed).oldValue }

        func takesSum() -> Bool { !sumIsTaken.exchange(true, ordering: .relaxed) }

        func add(_ rows: OpenedRows) { sum.withLock { sum in sum.add(rows) } }
    }

    /// The sum over all rows, for one thread: libgcrypt computes one code at a time.
    private static func sum(of revisions: [Rows.Revision], _ keys: CollectionKeys) -> OpenedRows {
        var result = OpenedRows()
        do throws(GcryptError) {
            for revision in revisions {
                result.hash.add(try keys.hash(item: revision.item, revision: revision.number))
            }
        } catch {
            result.isSound = false
        }
        return result
    }

    /// Opens parts until none is left, or one is not sound.
    private static func open(
        _ sealed: SealedRows,
        _ parts: [Rows.Part],
        until progress: Progress,
        into records: UnsafeMutableBufferPointer<ItemRecord>,
        _ keys: CollectionKeys
    ) -> OpenedRows {
        var result = OpenedRows()
        do throws(GcryptError) {
            var opener = try keys.rowOpener()
            while result.isSound {
                let number = progress.takePart()
                guard number < parts.count else { break }
                var position = parts[number].firstRecord
                result.isSound = try sealed.forEach(in: parts[number].bytes) { (row) throws(GcryptError) in
                    defer { position += 1 }
                    return try open(row, with: &opener, into: &records[position], &result.protections)
                }
            }
        } catch {
            result.isSound = false
        }
        return result
    }

    private static func open(
        _ row: SealedRows.Row,
        with opener: inout RowOpener,
        into record: inout ItemRecord,
        _ protections: inout [ItemID: ItemProtection]
    ) throws(GcryptError) -> Bool {
        let opened: Void? = try opener.open(
            item: record.id.rawValue,
            revision: record.revision,
            tags: row.tags,
            metadata: row.metadata
        ) { bytes in
            record.metadata.decode(bytes) ? () : nil
        }
        guard opened != nil else { return false }
        record.condition = .intact
        let protection = ItemProtection(of: record.metadata.attributes)
        if protection != .none { protections[record.id] = protection }
        return true
    }
}

/// The rows in the order of the file.
private struct Rows {
    /// The bytes of sealed rows that a thread takes at a time.
    private static let partSize = 256 << 10

    struct Part: Sendable {
        let firstRecord: Int
        var bytes: Range<Int>
    }

    /// A term of the sum over all rows.
    ///
    /// Beside each other, since the records are too far apart for the processor's caches.
    struct Revision: Sendable {
        let item: UInt64
        let number: UInt64
    }

    let sealed: SealedRows
    /// With the sealed secrets, and memory for the metadata.
    var records: [ItemRecord] = []
    private(set) var revisions: [Revision] = []
    private(set) var parts: [Part] = []

    init(sealed: SealedRows, reserving items: Int) {
        self.sealed = sealed
        records.reserveCapacity(items)
        revisions.reserveCapacity(items)
    }

    /// False if there is no more memory for it.
    mutating func append(_ row: CollectionFile.Row, _ id: ItemID) -> Bool {
        let start = sealed.count
        guard sealed.append(row) else { return false }
        if let last = parts.last, last.bytes.count < Self.partSize {
            parts[parts.count - 1].bytes = last.bytes.lowerBound..<sealed.count
        } else {
            parts.append(Part(firstRecord: records.count, bytes: start..<sealed.count))
        }
        revisions.append(Revision(item: id.rawValue, number: row.revision))
        records.append(
            ItemRecord(
                id: id,
                revision: row.revision,
                condition: .unread,
                metadata: ItemMetadata(
                    reserving: row.metadata.count - SealingKey.overhead,
                    sealedSecret: row.secret
                ),
                secretBytes: row.secretBytes
            )
        )
        return true
    }
}

/// The result of opening some of the rows.
private struct OpenedRows: Sendable {
    var isSound = true
    var hash = MultisetHash()
    var protections: [ItemID: ItemProtection] = [:]

    mutating func add(_ other: OpenedRows) {
        isSound = isSound && other.isSound
        hash.add(other.hash)
        protections.merge(other.protections) { protection, _ in protection }
    }
}
