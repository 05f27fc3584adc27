import Foundation
import KeychainModel

/// What a query has found of an identity.
struct FoundIdentity: Sendable {
    let certificate: FoundItem
    let key: FoundItem

    /// The identity as the caller wants it; its data is the certificate, its attributes are those of both.
    func result(_ returns: ItemQuery.Returns) throws(StatusError) -> CFTypeRef? {
        switch returns {
        case []: return nil
        case .data: return certificate.dataObject
        case .reference: return try identity
        case .persistentReference: return persistentReference
        default: break
        }
        var result: [String: Any] = [:]
        if returns.contains(.attributes) {
            result = key.attributes.merging(certificate.attributes) { $1 }
            result[kSecClass as String] = kSecClassIdentity
        }
        if returns.contains(.data) { result[kSecValueData as String] = certificate.dataObject }
        if returns.contains(.reference) { result[kSecValueRef as String] = try identity }
        if returns.contains(.persistentReference) {
            result[kSecValuePersistentRef as String] = persistentReference
        }
        return result as NSDictionary
    }

    private var identity: SecIdentity {
        get throws(StatusError) { SecIdentity(try certificate.certificate, try key.key) }
    }

    private var persistentReference: NSData { Data(certificate.reference.ofIdentity.bytes) as NSData }
}
