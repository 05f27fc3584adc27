import Foundation
import SecretServiceClient

/// A reference to an item that can be stored: the path of the item, which does not change while the item exists.
struct PersistentReference: Hashable, Sendable {
    private static let prefix = "org.freedesktop.secrets:"
    private static let identityPrefix = "org.freedesktop.secrets.identity:"

    let path: String

    /// Whether it stands for an identity, by the path of the certificate.
    let isIdentity: Bool

    init(path: String, isIdentity: Bool = false) {
        self.path = path
        self.isIdentity = isIdentity
    }

    /// Reads what ``bytes`` has given; nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        if text.hasPrefix(PersistentReference.prefix) {
            self.init(path: String(text.dropFirst(PersistentReference.prefix.count)))
        } else if text.hasPrefix(PersistentReference.identityPrefix) {
            self.init(path: String(text.dropFirst(PersistentReference.identityPrefix.count)), isIdentity: true)
        } else {
            return nil
        }
    }

    /// The identity whose certificate this stands for.
    var ofIdentity: PersistentReference { PersistentReference(path: path, isIdentity: true) }

    /// The certificate of the identity that this stands for.
    var ofCertificate: PersistentReference { PersistentReference(path: path) }

    var bytes: [UInt8] {
        Array(((isIdentity ? PersistentReference.identityPrefix : PersistentReference.prefix) + path).utf8)
    }
}
