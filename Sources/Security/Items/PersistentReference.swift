import Foundation
import SecretServiceClient

/// A reference to an item that can be stored: the path of the item, which does not change while the item exists.
struct PersistentReference: Hashable, Sendable {
    private static let prefix = "org.freedesktop.secrets:"

    let path: String

    init(path: String) {
        self.path = path
    }

    /// Reads what ``bytes`` has given; nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self), text.hasPrefix(PersistentReference.prefix) else {
            return nil
        }
        path = String(text.dropFirst(PersistentReference.prefix.count))
    }

    var bytes: [UInt8] { Array((PersistentReference.prefix + path).utf8) }
}
