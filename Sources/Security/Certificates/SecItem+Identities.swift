#if Keys
import Foundation
import KeychaindKeys
import KeychaindModel
import SecretServiceClient

// The functions of SecItem for identities.
extension IdentityQuery {
    /// Adds both items of an identity.
    static func add(
        _ query: ItemQuery,
        _ result: UnsafeMutablePointer<CFTypeRef?>?
    ) throws(StatusError) {
        let (parts, key) = try IdentityQuery.additions(query)
        try BlockingCall.run { (client) throws(SecretServiceError) in try await client.addIdentity(parts, key: key) }
        guard !query.returns.isEmpty, case .identity(let identity)? = query.object else { return }
        // The new items, not those from which the identity was read.
        var added = query
        let certificate = try SecCertificate(identity.certificate.bytes)
        added.object = .identity(SecIdentity(certificate, SecKey(identity.key.storage)))
        // An item that existed keeps its own label and attributes.
        added.label = nil
        added.values = query.values.filter { attribute, _ in attribute == .accessGroup }
        (added.created, added.modified, added.isUnconstrained) = (nil, nil, false)
        try copy(added, result)
    }

    /// Finds identities.
    static func copy(
        _ query: ItemQuery,
        _ result: UnsafeMutablePointer<CFTypeRef?>?
    ) throws(StatusError) {
        let identities = try IdentityQuery(query)
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.readIdentities(identities)
        }
        try deliver(found, query, to: result) { (identity) throws(StatusError) in try identity.result(query.returns) }
    }

    /// Changes the items of all matching identities.
    static func update(_ query: ItemQuery, _ changes: ItemQuery) throws(StatusError) {
        var query = query
        query.limit = .all
        let identities = try IdentityQuery(query)
        let parts = try IdentityQuery.changes(changes)
        let count = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.updateIdentities(identities, with: parts)
        }
        guard count > 0 else { throw StatusError(errSecItemNotFound, "no item matches") }
    }

    /// Deletes the items of all matching identities.
    static func delete(_ query: ItemQuery) throws(StatusError) {
        var query = query
        query.limit = query.limit ?? .all
        let identities = try IdentityQuery(query)
        let count = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.deleteIdentities(identities)
        }
        guard count > 0 else { throw StatusError(errSecItemNotFound, "no item matches") }
    }
}
#endif
