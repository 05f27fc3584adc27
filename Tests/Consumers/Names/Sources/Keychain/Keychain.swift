import LocalAuthentication
import Security

/// The passwords of this program.
public struct Keychain {
    private let service: String

    /// The passwords of a service.
    public init(service: String) {
        self.service = service
    }

    /// Adds a password.
    public func add(_ password: String, for account: String) -> OSStatus {
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecValueData as String: Data(password.utf8),
        ]
        return SecItemAdd(item as CFDictionary, nil)
    }

    /// Whether a finger or the password can be asked for.
    public func canAsk() -> Bool {
        LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
    }
}
