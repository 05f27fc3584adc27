import LocalAuthentication

/// The key that the note is encrypted with, which is kept in the keychain twice.
///
/// One item is given out to a touch of an enrolled finger, the other to the note's password. Both are asked for by the keychain: this
/// program sees neither.
struct NoteKey {
    /// A way to get the key.
    enum Way: String {
        case touch = "Notes: by touch"
        case password = "Notes: by password"
    }

    let bytes: Data

    /// Makes a new key.
    init() throws(NoteError) {
        var bytes = [UInt8](repeating: 0, count: 32)
        try NoteKey.check(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes))
        self.bytes = Data(bytes)
    }

    /// Gets the key; a person is asked, in the context's words.
    init(_ way: Way, _ id: String, _ context: LAContext) throws(NoteError) {
        let more: [String: Any] = [
            kSecReturnData as String: true,
            kSecUseAuthenticationContext as String: context,
        ]
        var result: CFTypeRef?
        try NoteKey.check(SecItemCopyMatching(NoteKey.query(way, id, more), &result))
        guard let bytes = result as? Data else { throw .damaged }
        self.bytes = bytes
    }

    /// Whether the key is kept for a way; nobody is asked for that.
    static func isStored(_ way: Way, _ id: String) -> Bool {
        SecItemCopyMatching(query(way, id, [:]), nil) == errSecSuccess
    }

    /// Keeps the key, to be had in a way; for that by password a person is asked to choose one.
    func store(_ way: Way, _ id: String) throws(NoteError) {
        let access = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            way == .touch ? .biometryAny : .applicationPassword,
            nil
        )
        let more: [String: Any] = [
            kSecAttrLabel as String: "Your note",
            kSecAttrAccessControl as String: access as Any,
            kSecValueData as String: bytes,
        ]
        try NoteKey.check(SecItemAdd(NoteKey.query(way, id, more), nil))
    }

    /// Takes a way to the key away; a person is asked for that, whatever the context has proved.
    static func delete(_ way: Way, _ id: String, _ context: LAContext) throws(NoteError) {
        try check(SecItemDelete(query(way, id, [kSecUseAuthenticationContext as String: context])))
    }

    private static func query(_ way: Way, _ id: String, _ more: [String: Any]) -> CFDictionary {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: way.rawValue,
            kSecAttrAccount as String: id,
        ]
        return query.merging(more) { $1 } as CFDictionary
    }

    private static func check(_ status: OSStatus) throws(NoteError) {
        if status != errSecSuccess { throw .keychain(status) }
    }
}
