import Foundation
import KeychaindModel
import SecretServiceClient

/// A persistent reference: the path of an item, which never changes.
struct PersistentReference: Hashable, Sendable {
    private static let prefix = "org.freedesktop.secrets:"
    private static let identityPrefix = "org.freedesktop.secrets.identity:"

    let path: String

    /// Whether it refers to an identity, by the path of the certificate.
    let isIdentity: Bool

    init(path: String, isIdentity: Bool = false) {
        self.path = path
        self.isIdentity = isIdentity
    }

    /// Reads ``bytes``; nil for anything else.
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

    /// The reference to the identity of this certificate.
    var ofIdentity: PersistentReference { PersistentReference(path: path, isIdentity: true) }

    /// The reference to the certificate of this identity.
    var ofCertificate: PersistentReference { PersistentReference(path: path) }

    var bytes: [UInt8] {
        Array(((isIdentity ? PersistentReference.identityPrefix : PersistentReference.prefix) + path).utf8)
    }
}

/// A reference to an item of the keychain.
public final class SecKeychainItem: Hashable, Sendable {
    let reference: PersistentReference

    init(_ reference: PersistentReference) {
        self.reference = reference
    }

    /// Compares the references.
    public static func == (left: SecKeychainItem, right: SecKeychainItem) -> Bool {
        left.reference == right.reference
    }

    /// Hashes the reference.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reference)
    }
}

/// An element of ``kSecMatchItemList``.
enum ListedItem: Sendable {
    /// An item of the keychain; the certificate of an identity.
    case item(path: String)
    /// A key or certificate from elsewhere, by the attributes that identify it.
    case values([KeychainAttribute: KeychainValue])

    init(_ element: Any) throws(StatusError) {
        if case .data(let bytes) = QueryValue(element) {
            guard let reference = PersistentReference(bytes) else {
                throw StatusError(errSecParam, "the list has data that is not a reference to an item")
            }
            self = .item(path: reference.path)
            return
        }
        if let item = element as AnyObject as? SecKeychainItem {
            self = .item(path: item.reference.path)
            return
        }
        guard let object = ReferencedObject(element as AnyObject) else {
            throw StatusError(errSecParam, "the list has an element that is not a reference to an item")
        }
        if let reference = object.reference {
            self = .item(path: reference.path)
        } else {
            self = .values(try object.values())
        }
    }

    /// Whether it stands for an item.
    func isItem(at path: String, _ item: KeychainItem) -> Bool {
        switch self {
        case .item(let listed): listed == path
        case .values(let values):
            !values.isEmpty && values.allSatisfy { attribute, value in item[attribute] == value }
        }
    }
}
