import Security

/// Texts of one service in the keychain, as easy to use as `UserDefaults`.
struct KeychainWrapper {
    let service: String

    /// The text of a key; nil if there is none, and nil deletes it.
    subscript(key: String) -> String? {
        get { value(forKey: key) }
        nonmutating set {
            if let newValue {
                set(newValue, forKey: key)
            } else {
                removeValue(forKey: key)
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

    private func value(forKey key: String) -> String? {
        let query = item(key).merging([kSecReturnData: true]) { $1 }
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let data = result as? Data else {
            return nil
        }
        return String(data: data, encoding: .utf8)
    }

    /// Sets the text of a key, and tells whether the keychain took it.
    @discardableResult
    func set(_ value: String, forKey key: String) -> Bool {
        let secret = [kSecValueData: Data(value.utf8)]
        let status = SecItemUpdate(item(key) as CFDictionary, secret as CFDictionary)
        guard status == errSecItemNotFound else { return status == errSecSuccess }
        return SecItemAdd(item(key).merging(secret) { $1 } as CFDictionary, nil) == errSecSuccess
    }

    /// Deletes the text of a key, and tells whether there was one.
    @discardableResult
    func removeValue(forKey key: String) -> Bool {
        SecItemDelete(item(key) as CFDictionary) == errSecSuccess
    }
}
