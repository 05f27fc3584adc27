#if Keys
import Foundation
import KeychaindModel
import SecretServiceClient

/// A query for identities, split into queries for the certificate and the key.
struct IdentityQuery: Sendable {
    let certificate: ItemQuery
    private let key: ItemQuery
    let returns: ItemQuery.Returns
    let limit: Int

    init(_ query: ItemQuery) throws(StatusError) {
        let located = try query.located()
        returns = query.returns
        limit = query.limit?.count ?? 1
        certificate = IdentityQuery.part(.certificate, of: located)
        var key = IdentityQuery.part(.key, of: located)
        key.values[.keyClass] = .text(KeyClass.private.code)
        key.label = nil
        key.reference = nil
        key.limit = .one
        key.candidates = nil
        self.key = key
    }

    /// The query for the private key of a public key.
    func key(hash: [UInt8]) -> ItemQuery? {
        var query = key
        if let label = query.values[.applicationLabel], label != .data(hash) { return nil }
        query.values[.applicationLabel] = .data(hash)
        return query
    }

    /// The items of an identity to add, and the item of a key that is in the keychain already.
    static func additions(
        _ query: ItemQuery
    ) throws(StatusError) -> (parts: [(item: KeychainItem, query: ItemQuery)], key: PersistentReference?) {
        guard case .identity(let identity)? = query.object else {
            throw StatusError(errSecParam, "kSecValueRef is not an identity")
        }
        var certificate = part(.certificate, of: query)
        certificate.object = .certificate(identity.certificate)
        if case .stored(let key) = identity.key.storage { return ([try certificate.addition()], key.reference) }
        var key = part(.key, of: query)
        key.object = .key(identity.key)
        return ([try key.addition(), try certificate.addition()], nil)
    }

    /// The changes of certificate and key; the label is the certificate's, as in results.
    static func changes(
        _ changes: ItemQuery
    ) throws(StatusError) -> (certificate: ItemQuery?, key: ItemQuery?) {
        var all = changes
        all.isIdentity = true
        try all.checkAttributes()
        let parts = [ItemClass.certificate, .key].map { itemClass in
            var part = changes
            part.itemClass = itemClass
            part.values = changes.values.filter { itemClass.has($0.key) }
            if itemClass == .key { part.label = nil }
            let isEmpty =
                part.values.isEmpty && part.label == nil && part.synchronizable == nil && part.data == nil
                && !part.isUnconstrained
            return isEmpty ? nil : part
        }
        return (parts[0], parts[1])
    }

    private static func part(_ itemClass: ItemClass, of query: ItemQuery) -> ItemQuery {
        var part = query
        part.isIdentity = false
        part.itemClass = itemClass
        part.limit = .all
        part.object = nil
        part.reference = query.reference?.ofCertificate
        part.values = query.values.filter { itemClass.has($0.key) }
        part.returns = [.attributes]
        if itemClass == .key {
            if query.returns.contains(.reference) { part.returns.insert(.reference) }
        } else if !query.returns.isDisjoint(with: [.reference, .data]) {
            part.returns.insert(.data)
        }
        return part
    }
}

extension SecretClient {
    /// Finds matching certificates that have a private key.
    func readIdentities(_ query: IdentityQuery) async throws(SecretServiceError) -> [FoundIdentity] {
        var found: [FoundIdentity] = []
        let search = try query.certificate.checkedSearch()
        for certificate in try await read(query.certificate, search) {
            guard found.count < query.limit else { break }
            guard case .data(let hash)? = certificate.item?[.publicKeyHash], let wanted = query.key(hash: hash) else {
                continue
            }
            guard let key = try await read(wanted, wanted.checkedSearch()).first else { continue }
            found.append(FoundIdentity(certificate: certificate, key: key))
        }
        return found
    }

    /// Stores the items of an identity; existing ones stay unchanged.
    ///
    /// Throws ``SecretServiceError/Code/alreadyExists`` if all exist.
    ///
    /// - Parameter key: the item of a key that must exist, if any.
    func addIdentity(
        _ parts: [(item: KeychainItem, query: ItemQuery)],
        key: PersistentReference?
    ) async throws(SecretServiceError) {
        if let key, try await record(of: item(at: key.path)) == nil {
            throw SecretServiceError(.noSuchObject, "the key of the identity was deleted")
        }
        var added: [SecretItem] = []
        for part in parts {
            do throws(SecretServiceError) {
                added.append(try item(at: try await add(part.item, part.query).reference.path))
            } catch  where error.code == .alreadyExists {
                continue
            } catch {
                // No key without its certificate.
                for item in added { try? await item.delete(prompting: .never) }
                throw error
            }
        }
        guard !added.isEmpty else { throw SecretServiceError(.alreadyExists, "the identity exists in the keychain") }
    }

    /// Changes the items of identities, or none.
    ///
    /// - Returns: the number of identities.
    func updateIdentities(
        _ query: IdentityQuery,
        with changes: (certificate: ItemQuery?, key: ItemQuery?)
    ) async throws(SecretServiceError) -> Int {
        let found = try await readIdentities(query)
        var targets: [UpdateTarget] = []
        // Two certificates may have the same key.
        var items: Set<SecretItem> = []
        for identity in found {
            for (item, changes) in [(identity.certificate, changes.certificate), (identity.key, changes.key)] {
                guard let changes else { continue }
                for match in try await matches(nil, item.reference, limit: .max)
                where items.insert(match.item).inserted {
                    targets.append(
                        UpdateTarget(
                            match: match,
                            itemClass: changes.itemClass,
                            changes: changes,
                            secret: try changes.newSecret
                        )
                    )
                }
            }
        }
        let changesProtection = targets.contains { $0.changes.changesProtection }
        let action: ProviderContext.Action = changesProtection ? .protect : .change
        let all = targets
        _ = try await ItemUnlocking.during(query.certificate, to: action, on: self) {
            (unlocking) throws(SecretServiceError) in
            try await update(all, unlocking)
        }
        return found.count
    }

    /// Deletes identities with their keys.
    ///
    /// - Returns: the number of identities.
    func deleteIdentities(_ query: IdentityQuery) async throws(SecretServiceError) -> Int {
        let found = try await readIdentities(query)
        for identity in found {
            // The key first: it may have an access control, and a person may refuse.
            for item in [identity.key, identity.certificate] {
                var one = query.certificate
                one.reference = item.reference
                one.values = [:]
                _ = try await delete(one, nil)
            }
        }
        return found.count
    }
}

extension ItemQuery {
    /// The search of a query that was checked before.
    fileprivate func checkedSearch() throws(SecretServiceError) -> ItemSearch {
        do throws(StatusError) {
            return try search()
        } catch {
            throw SecretServiceError(.invalidArguments, error.reason)
        }
    }
}

/// An identity found by a query.
struct FoundIdentity: Sendable {
    let certificate: FoundItem
    let key: FoundItem

    /// The requested result; the data is the certificate, the attributes are those of both items.
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
#endif
