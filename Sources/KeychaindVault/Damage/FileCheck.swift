import KeychaindGcrypt
import KeychaindLog
import KeychaindModel

/// The result of a check of a keychain's file.
package struct FileReport: Sendable {
    package enum Depth: UInt8, Sendable {
        /// The structure of the file; no key was at hand.
        case structure = 0

        /// Also the seals of labels and attributes.
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

extension StoredItem {
    /// Whether all seals of an item are genuine, as far as there are keys.
    func isGenuine(_ id: ItemID, _ keys: CheckKeys) -> Bool {
        guard let metadata = ItemMetadata(decoding: metadata) else { return false }
        guard let secrets = keys.secrets else { return true }
        return
            (try? secrets.verify(
                Array(secret)[...],
                item: id.rawValue,
                revision: metadata.secretRevision,
                hasItemKey: metadata.wraps != nil
            )) != nil
    }
}

extension CollectionLog {
    /// Checks a file beside its writer; throws only if it cannot be read for a cause that may pass.
    ///
    /// - Parameter known: a sequence that the file has had.
    static func check(
        _ path: String,
        known: UInt64 = 0,
        _ configuration: VaultConfiguration,
        keys: CheckKeys?
    ) throws(VaultError) -> FileReport {
        do throws(VaultError) {
            return try CollectionLog(path, known: known, readOnly: true, configuration).check(keys)
        } catch {
            guard !error.isTriedAgain else { throw error }
            return FileReport(unreadable: error.reason)
        }
    }

    /// Checks everything: frames, marks and, as far as there are keys, seals.
    func check(_ keys: CheckKeys?) throws(VaultError) -> FileReport {
        var report = FileReport()
        report.findings = damage
        if let problem = try header().problem { report.findings.append(problem) }
        var damaged: [ItemID] = []
        func note(_ id: ItemID, isIntact: Bool) {
            report.items += 1
            if isIntact { report.intact += 1 } else { damaged.append(id) }
        }
        if let keys, keys.collection.collection == records.uuid {
            report.depth = keys.secrets == nil ? .metadata : .everything
            report.findings += try forEachItem(keys.collection, checksSecrets: true) { id, item in
                note(id, isIntact: item?.isGenuine(id, keys) == true)
            }
        } else {
            let damages = try logged { () throws(LogError) in
                try records.forEach(in: records.state, nil) { record in
                    if let id = record.id.item { note(id, isIntact: true) }
                }
            }
            for case .frame(let record, _) in damages.map(\.kind) {
                if let id = record.item { note(id, isIntact: false) }
            }
        }
        if !damaged.isEmpty {
            let numbers = damaged.sorted().prefix(20).map(\.description).joined(separator: ", ")
            let more = damaged.count > 20 ? ", …" : ""
            let word = damaged.count == 1 ? "number" : "numbers"
            report.findings.append(
                "\(damaged.count) of its items \(damaged.count.isOrAre) damaged: \(word) \(numbers)\(more)"
            )
        }
        return report
    }
}
