import Gcrypt
import KeychainModel

/// A requested change and its waiting caller.
final class PendingMutation {
    /// The requested change.
    enum Request {
        /// A new item, or the replacement of one with equal attributes.
        case create(NewItem)

        /// A change of an item.
        case update(ItemID, ItemUpdate)

        /// The deletion of an item, with the caller's authentication and the revision it was for.
        case delete(ItemID, authenticated: Bool, at: ItemRevision?)

        /// A new label of the collection.
        case rename(String)
    }

    /// The reason why a waiting caller resumes.
    enum Turn: Sendable {
        /// The caller writes the next batch, starting with its own change.
        case lead

        /// The change was written in another caller's batch, or failed.
        case settled(Result<Outcome, VaultError>)
    }

    /// The result of a change.
    enum Outcome: Sendable {
        /// The item was created or replaced.
        case item(ItemCreation)

        /// The change was written.
        case done
    }

    let request: Request

    /// The continuation of a waiting caller.
    var continuation: CheckedContinuation<Turn, Never>?

    init(_ request: Request) {
        self.request = request
    }

    /// The bytes of secrets in the change.
    var secretBytes: Int {
        switch request {
        case .create(let item): item.secret.byteCount
        case .update(_, let update): update.secret?.byteCount ?? 0
        case .delete, .rename: 0
        }
    }
}
