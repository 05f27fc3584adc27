import Authentication
import DBus
import KeychainModel
import Logging
import Vault

/// Writes down who got a protected item, who did not, and who changed its protection: without secrets, and without labels.
///
/// Nothing waits for it.
@BusActor
final class AccessAudit {
    private let logger: Logger
    /// Whose denials are written already: a program that tries again and again would else push everything out.
    private var denied: [String: Set<ItemReference>] = [:]

    private static let denialsPerCaller = 100

    init(logger: Logger) {
        self.logger = logger
    }

    /// An item was released under a grant.
    func released(_ id: ItemID, in collection: Collection, under grant: ItemGrant) {
        record(id, in: collection, by: grant.caller, "released")
    }

    /// An item was asked for without a grant; written once for a caller and an item.
    func denied(_ id: ItemID, in collection: Collection, to caller: String) {
        let item = ItemReference(id, in: collection)
        guard denied[caller, default: []].count < AccessAudit.denialsPerCaller,
            denied[caller, default: []].insert(item).inserted
        else { return }
        record(id, in: collection, by: caller, "locked")
    }

    /// Forgets a caller that has left the bus.
    func forget(_ caller: String) {
        denied[caller] = nil
    }

    private func record(_ id: ItemID, in collection: Collection, by caller: String, _ outcome: String) {
        logger.debug(
            "A protected item",
            metadata: ["item": "\(collection.name)/\(id)", "caller": "\(caller)", "outcome": "\(outcome)"]
        )
    }
}

extension Caller {
    /// The caller in the audit: who, and what that rests on.
    var auditText: String { "\(self) [\(evidence.rawValue)]" }
}
