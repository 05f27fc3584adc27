import Foundation
import Security

/// Reads passwords.
public struct Wrapper {
    private let service: String

    /// The passwords of a service.
    public init(service: String) {
        self.service = service
    }

    /// The password of an account.
    public func password(of account: String) -> String? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecReturnData as String: true,
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}
