import KeychaindDBus

/// `org.keychaind.Authentication1`, an interface of keychaind alone.
extension SecretClient {
    /// The errors of providers without the interface.
    private static let absence: [SecretServiceError.Code] = [.noSuchObject, .notSupported]

    /// Whether the provider enforces the access control of items, as keychaind does.
    package func enforcesAccessControl() async throws(SecretServiceError) -> Bool {
        try await authenticationAvailability("deviceOwnerAuthentication") != nil
    }

    /// Nil from a provider without authentication.
    package func authenticationAvailability(
        _ policy: String
    ) async throws(SecretServiceError) -> AuthenticationAvailability? {
        try ArgumentCheck.check(policy)
        let message = ProviderInterface.authentication.call("CanEvaluatePolicy", policy)
        do throws(SecretServiceError) {
            let (possible, error, biometry) = try await call(message).reading(Bool.self, String.self, String.self)
            return AuthenticationAvailability(
                obstacle: possible ? nil : error,
                hasFingerprintReader: biometry == "fingerprint"
            )
        } catch  where SecretClient.absence.contains(error.code) {
            return nil
        }
    }

    /// A hash of the enrolled fingers; empty if none can be matched, nil from a provider without authentication.
    package func authenticationDomainState() async throws(SecretServiceError) -> [UInt8]? {
        do throws(SecretServiceError) {
            return try await call(ProviderInterface.authentication.call("GetDomainState")).reading(ByteArray.self).bytes
        } catch  where SecretClient.absence.contains(error.code) {
            return nil
        }
    }

    /// Nil from a provider without authentication.
    package func makeAuthenticationContext() async throws(SecretServiceError) -> ProviderContext? {
        do throws(SecretServiceError) {
            let (owner, path) = try await onLink { (link) throws(SecretServiceError) in
                let owner = try await link.provider()
                let reply = try await link.call(ProviderInterface.authentication.call("CreateContext"), to: owner)
                return (owner, try reply.reading(ObjectPath.self))
            }
            return ProviderContext(self, path, owner: owner)
        } catch  where SecretClient.absence.contains(error.code) {
            return nil
        }
    }
}

package struct AuthenticationAvailability: Hashable, Sendable {
    /// The name of the D-Bus error with which it would fail; nil if it is possible.
    package let obstacle: String?

    package let hasFingerprintReader: Bool
}

/// `DeleteItems` of `org.keychaind.Collection1`, an interface of keychaind alone.
extension SecretClient {
    /// Deletes items of one collection in one step, or none of them.
    ///
    /// Returns false, and has deleted nothing, if they must be deleted one by one: with another provider, if they are
    /// in several collections or too many at once, and if a person must be asked about one. Throws what the deletion of
    /// one of them would.
    package func deleteAtOnce(_ items: [SecretItem]) async throws(SecretServiceError) -> Bool {
        guard let collection = Self.collection(of: items) else { return false }
        let message = Protocol.call(collection, Protocol.keychaindCollection, "DeleteItems", items.map(\.objectPath))
        do throws(SecretServiceError) {
            _ = try await call(message)
            return true
        } catch  where error.isOfMissingMethod || [.notSupported, .limitExceeded].contains(error.code) {
            return false
        }
    }

    /// The path of the collection of all the items; nil if there is none.
    private static func collection(of items: [SecretItem]) -> ObjectPath? {
        guard let first = items.first, let end = first.path.lastIndex(of: "/") else { return nil }
        let collection = first.path[..<end]
        let areTogether = items.allSatisfy { item in
            item.path.lastIndex(of: "/").map { end in item.path[..<end] == collection } ?? false
        }
        return areTogether ? ObjectPath(String(collection)) : nil
    }
}
