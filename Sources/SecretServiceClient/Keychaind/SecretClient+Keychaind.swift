import DBus

/// `org.keychaind.Authentication1`, which only keychaind has.
extension SecretClient {
    /// What other providers answer where keychaind has its authentication.
    private static let absence: [SecretServiceError.Code] = [.noSuchObject, .notSupported]

    private static func call(_ member: String) -> Message {
        Protocol.call(Protocol.authenticationObject, Protocol.authentication, member)
    }

    /// Whether the provider asks for proof before it releases an item whose attributes say so, as keychaind does.
    package func enforcesAccessControl() async throws(SecretServiceError) -> Bool {
        try await authenticationAvailability("deviceOwnerAuthentication") != nil
    }

    /// Whether a policy could be satisfied now; nil from a provider that has no authentication.
    package func authenticationAvailability(
        _ policy: String
    ) async throws(SecretServiceError) -> AuthenticationAvailability? {
        try ArgumentCheck.check(policy)
        let message = SecretClient.call("CanEvaluatePolicy")
        message.append(policy)
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

    /// A hash over the enrolled fingers; empty if no finger can be matched, nil from a provider that has no authentication.
    package func authenticationDomainState() async throws(SecretServiceError) -> [UInt8]? {
        do throws(SecretServiceError) {
            return try await call(SecretClient.call("GetDomainState")).reading(ByteArray.self).bytes
        } catch  where SecretClient.absence.contains(error.code) {
            return nil
        }
    }

    /// Makes a context; nil from a provider that has none.
    package func makeAuthenticationContext() async throws(SecretServiceError) -> AuthenticationContext? {
        do throws(SecretServiceError) {
            let (owner, path) = try await onLink { (link) throws(SecretServiceError) in
                let owner = try await link.provider()
                let reply = try await link.call(SecretClient.call("CreateContext"), to: owner)
                return (owner, try reply.reading(ObjectPath.self))
            }
            return AuthenticationContext(self, path, owner: owner)
        } catch  where SecretClient.absence.contains(error.code) {
            return nil
        }
    }
}
