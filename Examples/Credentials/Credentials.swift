import LocalAuthentication

/// A name and a password for a server.
struct Credentials {
    var username: String
    var password: String
}

extension Credentials {
    /// Stores them in the keychain, which releases them only to the owner of the device.
    func add(for server: String) throws(KeychainError) {
        let ownerOnly = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
            .userPresence,
            nil
        )
        let item: [CFString: Any] = [
            kSecClass: kSecClassInternetPassword,
            kSecAttrServer: server,
            kSecAttrAccount: username,
            kSecAttrAccessControl: ownerOnly as Any,
            kSecValueData: Data(password.utf8),
        ]
        try KeychainError.check(SecItemAdd(item as CFDictionary, nil))
    }

    /// Reads the credentials for a server; the keychain asks for a finger or the password.
    static func read(for server: String) throws(KeychainError) -> Credentials {
        let context = LAContext()
        context.localizedReason = "Show your password for \(server)"
        let query: [CFString: Any] = [
            kSecClass: kSecClassInternetPassword,
            kSecAttrServer: server,
            kSecMatchLimit: kSecMatchLimitOne,
            kSecReturnAttributes: true,
            kSecReturnData: true,
            kSecUseAuthenticationContext: context,
        ]
        var result: CFTypeRef?
        try KeychainError.check(SecItemCopyMatching(query as CFDictionary, &result))
        guard let item = result as? [String: Any],
            let username = item[kSecAttrAccount as String] as? String,
            let data = item[kSecValueData as String] as? Data,
            let password = String(data: data, encoding: .utf8)
        else { throw KeychainError(status: errSecDecode) }
        return Credentials(username: username, password: password)
    }

    /// Deletes the credentials for a server.
    static func delete(for server: String) throws(KeychainError) {
        let context = LAContext()
        context.localizedReason = "Delete your password for \(server)"
        let query: [CFString: Any] = [
            kSecClass: kSecClassInternetPassword,
            kSecAttrServer: server,
            kSecUseAuthenticationContext: context,
        ]
        try KeychainError.check(SecItemDelete(query as CFDictionary))
    }
}
