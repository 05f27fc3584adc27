import Gcrypt
import KeychainModel

/// A change that somebody asked for and waits for.
final class PendingMutation {
    /// What is asked for.
    enum Request {
        /// A new item, or a new value of the item with equal attributes.
        case create(NewItem)

        /// Another label, other attributes, another secret.
        case update(ItemID, ItemUpdate)

        /// An item less, and whether the caller has been authenticated for it, in which state.
        case delete(ItemID, authenticated: Bool, at: ItemRevision?)

        /// Another label of the collection.
        case rename(String)
    }

    /// What a caller that waits is told.
    enum Turn: Sendable {
        /// The changes before are written: write the next ones, beginning with your own.
        case lead

        /// Your change was written along with another's, or failed.
        case settled(Result<Outcome, VaultError>)
    }

    /// What came of a change.
    enum Outcome: Sendable {
        /// An item was made or replaced.
        case item(ItemCreation)

        /// What was asked for was done.
        case done
    }

    let request: Request

    /// The caller, when it waits.
    var continuation: CheckedContinuation<Turn, Never>?

    init(_ request: Request) {
        self.request = request
    }

    /// How many bytes of secrets the change carries.
    var secretBytes: Int {
        switch request {
        case .create(let item): item.secret.byteCount
        case .update(_, let update): update.secret?.byteCount ?? 0
        case .delete, .rename: 0
        }
    }
}
