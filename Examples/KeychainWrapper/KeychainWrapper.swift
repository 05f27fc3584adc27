import Security

/// Texts of one service in the keychain, in the style of `UserDefaults`.
struct KeychainWrapper {
    let service: String

    /// The text of a key; setting nil deletes it.
    ///
    /// Ignores failures, like `UserDefaults`. Call the functions where a failure must differ from a missing text.
    subscript(key: String) -> String? {
        get { try? value(forKey: key) }
        nonmutating set {
            if let newValue {
                try? set(newValue, forKey: key)
            } else {
                _ = try? removeValue(forKey: key)
            }
        }
    }

    /// The query for the item of a key.
    private func item(_ key: String) -> [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecAttrAccount: key,
            kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
            kSecAttrSynchronizable: true,
        ]
    }

    /// The text of a key; nil only if there is none.
    func value(forKey key: String) throws(KeychainError) -> String? {
        let query = item(key).merging([kSecReturnData: true]) { $1 }
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        try check(status)
        guard let data = result as? Data, let text = String(data: data, encoding: .utf8) else {
            throw KeychainError(status: errSecDecode)
        }
        return text
    }

    /// Sets the text of a key.
    func set(_ value: String, forKey key: String) throws(KeychainError) {
        let secret = [kSecValueData: Data(value.utf8)]
        let status = SecItemUpdate(item(key) as CFDictionary, secret as CFDictionary)
        guard status == errSecItemNotFound else { return try check(status) }
        try check(SecItemAdd(item(key).merging(secret) { $1 } as CFDictionary, nil))
    }

    /// Deletes the text of a key; returns whether there was one.
    @discardableResult
    func removeValue(forKey key: String) throws(KeychainError) -> Bool {
        let status = SecItemDelete(item(key) as CFDictionary)
        if status == errSecItemNotFound { return false }
        try check(status)
        return true
    }

    private func check(_ status: OSStatus) throws(KeychainError) {
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }
}
