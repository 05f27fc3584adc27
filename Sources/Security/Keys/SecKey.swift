public import Foundation
import KeychainModel

/// A key; made from data, at random, or found in the keychain.
///
/// Keys are kept and handed out here; signing and encrypting are left to libraries that take the external form, such as swift-crypto.
public final class SecKey: Hashable, Sendable {
    let material: KeyMaterial

    /// The item that it was read from.
    let reference: PersistentReference?

    init(_ material: KeyMaterial, _ reference: PersistentReference? = nil) {
        self.material = material
        self.reference = reference
    }

    /// Whether both are the same key, wherever they are from.
    public static func == (left: SecKey, right: SecKey) -> Bool {
        left.material == right.material
    }

    /// Feeds the key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(material)
    }
}

extension SecKey: CustomStringConvertible {
    /// What kind of key it is; nothing of its bytes.
    public var description: String {
        "\(material.keyClass.rawValue) key, \(material.type.rawValue), \(material.bits) bits"
    }
}

/// The bytes of a key: PKCS #1 for RSA, ANSI X9.63 for elliptic curves.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(key.material.bytes) as NSData
}

/// What is known of a key without its bytes: type, class, sizes, and the hash of the public key as ``kSecAttrApplicationLabel``.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    guard let values = try? key.material.values() else { return nil }
    var attributes: [String: Any] = [
        kSecClass as String: kSecClassKey, kSecAttrIsPermanent as String: NSNumber(value: key.reference == nil ? 0 : 1),
    ]
    for (attribute, value) in values {
        if let code = attribute.code { attributes[code] = value.object }
    }
    return attributes as NSDictionary
}

/// The public key of a private one, or the public key itself; nil for a symmetric key.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.material.publicKey.map { SecKey($0) }
}

/// The size of what the key works on, in bytes: the modulus of RSA, a coordinate of elliptic curves.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    (key.material.bits + 7) / 8
}
