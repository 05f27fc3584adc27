import KeychainModel
import SecretServiceClient

extension SecretClient {
    /// Finds identities: certificates that a query is about, each with the private key that belongs to it.
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

    /// Stores the parts of an identity; what is there already stays.
    ///
    /// Throws ``SecretServiceError/Code/alreadyExists`` if all of it is.
    func addIdentity(_ parts: [(item: KeychainItem, query: ItemQuery)]) async throws(SecretServiceError) {
        var isNew = false
        for part in parts {
            do throws(SecretServiceError) {
                _ = try await add(part.item, part.query)
                isNew = true
            } catch  where error.code == .alreadyExists {
                continue
            }
        }
        guard isNew else { throw SecretServiceError(.alreadyExists, "the identity is in the keychain") }
    }

    /// Deletes identities, each with its key.
    ///
    /// - Returns: how many there were.
    func deleteIdentities(_ query: IdentityQuery) async throws(SecretServiceError) -> Int {
        let found = try await readIdentities(query)
        for identity in found {
            for item in [identity.certificate, identity.key] {
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
    /// What to search for, where the query was checked before.
    fileprivate func checkedSearch() throws(SecretServiceError) -> ItemSearch {
        do throws(StatusError) {
            return try search()
        } catch {
            throw SecretServiceError(.invalidArguments, error.reason)
        }
    }
}
