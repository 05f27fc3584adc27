import Security

/// Texts of one service in the keychain, as easy to use as `UserDefaults`.
struct KeychainWrapper {
    let service: String

    /// The text of a key; nil if there is none, and nil deletes it.
    ///
    /// Says nothing of failures, as `UserDefaults` does. Where a failure must not be taken for "there is none", call the functions.
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

    /// Which item belongs to a key, and how it is to be kept.
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

    /// Deletes the text of a key, and tells whether there was one.
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
