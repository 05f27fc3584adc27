import KeychaindGcrypt
import KeychaindModel

/// The result of a check of a keychain's file.
package struct FileReport: Sendable {
    package enum Depth: UInt8, Sendable {
        /// The structure of the file; no key was at hand.
        case structure = 0

        /// Also the seals of labels and attributes, and the sum over all items.
        case metadata = 1

        /// Also the seals of the secrets.
        case everything = 2
    }

    /// The items that were found.
    package internal(set) var items = 0

    /// The items with genuine seals; all that were found if there is no key to check them.
    package internal(set) var intact = 0
    package internal(set) var depth = Depth.structure

    /// What is wrong, in words; empty for a sound file.
    package internal(set) var findings: [String] = []

    package var isSound: Bool { findings.isEmpty }
}

extension FileReport {
    init(unreadable reason: String) {
        findings = [reason]
    }
}

/// Keys to check seals with.
struct CheckKeys: Sendable {
    let collection: CollectionKeys
    /// Nil while the collection is locked.
    let secrets: SecretsKey?
}

extension Collection {
    /// The keys at hand; nil before the first unlock since the start.
    var checkKeys: CheckKeys? {
        guard let keys else { return nil }
        guard case .unlocked(let secrets) = phase else { return CheckKeys(collection: keys, secrets: nil) }
        return CheckKeys(collection: keys, secrets: secrets)
    }
}

/// Checks a file beside its other users: SQLite's own check, each row's seals, and the sum over all rows.
struct FileCheck {
    /// The findings of SQLite that are reported.
    private static let maximumFindings = 20

    private let database: Database
    private var report = FileReport()

    /// Checks a file; throws only if it cannot be read for a cause that may pass.
    static func run(
        _ path: String,
        _ mode: Database.Mode,
        limits: VaultLimits = VaultLimits(),
        keys: CheckKeys?
    ) throws(VaultError) -> FileReport {
        do throws(VaultError) {
            let database = try Database(path: path, mode: mode)
            database.limitLength(toRowsWithin: limits)
            // All is read in one state of the file.
            try database.execute("BEGIN")
            return try run(on: database, keys: keys)
        } catch {
            guard !error.isTriedAgain else { throw error }
            return FileReport(unreadable: error.reason)
        }
    }

    /// Checks an open file; throws only if it cannot be read for a cause that may pass.
    static func run(on database: Database, keys: CheckKeys?) throws(VaultError) -> FileReport {
        var check = FileCheck(database: database)
        do throws(VaultError) {
            try check.run(keys)
        } catch {
            guard !error.isTriedAgain else { throw error }
            check.report.findings.append(error.reason)
        }
        return check.report
    }

    private mutating func run(_ keys: CheckKeys?) throws(VaultError) {
        try database.check(tables: CollectionFormat.tables)
        report.findings += try database.integrityFindings(atMost: Self.maximumFindings)
        let header = try database.prepare("SELECT uuid, state FROM header")
        guard try header.step() else { throw VaultError(.unreadable, reason: "the header is missing") }
        let identifier = Array(header.bytes(at: 0))
        let state = Array(header.bytes(at: 1))
        guard let keys, keys.collection.collection == identifier else {
            report.items = Int(clamping: try database.integer("SELECT count(*) FROM item"))
            report.intact = report.items
            return
        }
        report.depth = keys.secrets == nil ? .metadata : .everything
        var verifier = RowVerifier(keys)
        defer {
            report.items = verifier.count
            report.intact = verifier.count - verifier.damaged.count
        }
        let rows = try database.prepare("SELECT id, revision, tags, metadata, secret FROM item ORDER BY id")
        while try rows.step() {
            _ = try verifier.verify(
                CollectionFile.Row(
                    id: rows.integer(at: 0),
                    revision: UInt64(bitPattern: rows.integer(at: 1)),
                    tags: rows.bytes(at: 2),
                    metadata: rows.bytes(at: 3),
                    secret: rows.bytes(at: 4),
                    secretBytes: rows.bytes(at: 4).count
                )
            )
        }
        report.findings += verifier.findings(comparedWith: try keys.collection.openState(state))
    }
}

/// Verifies the seals of rows, and adds up their sum.
struct RowVerifier {
    private let keys: CheckKeys
    private(set) var hash = MultisetHash()
    private(set) var count = 0
    private(set) var damaged: [Int64] = []

    init(_ keys: CheckKeys) {
        self.keys = keys
    }

    /// Returns the metadata of a genuine row; nil for a damaged one.
    mutating func verify(_ row: CollectionFile.Row) throws(VaultError) -> ItemMetadata? {
        count += 1
        do throws(GcryptError) {
            if let metadata = try open(row) { return metadata }
        } catch {
            guard error.code == .authenticationFailed else { throw VaultError(error) }
        }
        damaged.append(row.id)
        return nil
    }

    private mutating func open(_ row: CollectionFile.Row) throws(GcryptError) -> ItemMetadata? {
        guard let number = UInt64(exactly: row.id), let id = ItemID(rawValue: number) else { return nil }
        hash.add(try keys.collection.hash(item: number, revision: row.revision))
        let place = AssociatedData(
            metadataOf: id,
            revision: row.revision,
            tags: Array(row.tags),
            collection: keys.collection.collection
        )
        let plaintext = try keys.collection.open(Array(row.metadata), for: place)
        guard let metadata = plaintext.withUnsafeBytes({ bytes in ItemMetadata(decoding: bytes) }) else { return nil }
        guard let secrets = keys.secrets else { return metadata }
        guard let secret = row.secret else { return nil }
        try secrets.verify(
            Array(secret)[...],
            item: number,
            revision: metadata.secretRevision,
            hasItemKey: metadata.wraps != nil
        )
        return metadata
    }

    func findings(comparedWith state: CollectionState?) -> [String] {
        var findings: [String] = []
        if !damaged.isEmpty {
            let numbers = damaged.prefix(20).map(String.init).joined(separator: ", ")
            let more = damaged.count > 20 ? ", …" : ""
            let word = damaged.count == 1 ? "number" : "numbers"
            findings.append("\(damaged.count) of its items \(damaged.count.isOrAre) damaged: \(word) \(numbers)\(more)")
        }
        guard let state else { return findings + ["its sealed state is damaged"] }
        if state.itemCount != UInt64(count) {
            findings.append("it has \(count) items, and had \(state.itemCount) at its last change")
        } else if state.hash != hash {
            findings.append("items were replaced, removed or rolled back without the key")
        }
        return findings
    }
}
