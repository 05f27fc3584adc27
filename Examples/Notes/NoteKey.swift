import LocalAuthentication

/// The encryption key of the note, stored in the keychain twice.
///
/// One item is released after a touch, the other with the note's password. The keychain asks for both; this program
/// sees neither.
struct NoteKey {
    /// A way to get the key.
    enum Way: String {
        case touch = "Notes: by touch"
        case password = "Notes: by password"
    }

    let bytes: Data

    /// Generates a key.
    init() throws(NoteError) {
        var bytes = [UInt8](repeating: 0, count: 32)
        try NoteKey.check(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes))
        self.bytes = Data(bytes)
    }

    /// Reads the key; the keychain asks the person, with the texts of the context.
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

    /// Whether the key is stored for a way; asks nobody.
    static func isStored(_ way: Way, _ id: String) -> Bool {
        SecItemCopyMatching(query(way, id, [:]), nil) == errSecSuccess
    }

    /// Stores the key for a way; for the password, the keychain asks the person to choose one.
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

    /// Deletes the item of a way; the keychain always asks for it.
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
