import DBus

extension SecretClient {
    /// Whether the provider asks for proof before it releases an item whose attributes say so, as keychaind does.
    package func enforcesAccessControl() async throws(SecretServiceError) -> Bool {
        let path = ObjectPath(unchecked: "/org/keychaind/Authentication")
        let message = Protocol.call(path, "org.keychaind.Authentication1", "CanEvaluatePolicy")
        message.append("deviceOwnerAuthentication")
        do throws(SecretServiceError) {
            _ = try await call(message)
            return true
        } catch  where error.code == .noSuchObject || error.code == .notSupported {
            return false
        }
    }
}
