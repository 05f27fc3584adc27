import Gcrypt
import KeychainModel

/// A change that somebody asked for and waits for.
final class PendingMutation {
    /// What is asked for.
    enum Request {
        /// A new item, or a new value of the item with equal attributes.
        case create(label: String, attributes: Attributes, secret: SharedSecret, replacing: Bool)

        /// Another label, other attributes, another secret; nil leaves them as they are.
        case update(ItemID, label: String?, attributes: Attributes?, secret: SharedSecret?)

        /// An item less.
        case delete(ItemID)

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
        case .create(_, _, let secret, _), .update(_, _, _, let secret?): secret.secret.bytes.count
        case .update, .delete, .rename: 0
        }
    }
}
