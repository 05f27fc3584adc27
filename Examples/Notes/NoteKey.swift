import LocalAuthentication

/// The private key that decrypts the note, stored in the keychain twice.
///
/// One item is released after a touch, the other with the note's password. The keychain asks for both; this program
/// sees neither.
struct NoteKey {
    /// A way to get the key.
    enum Way: String {
        case touch = "Notes: by touch"
        case password = "Notes: by password"
    }

    private static var type: [String: Any] {
        [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
        ]
    }
    private static let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

    private let key: SecKey

    /// Generates a key.
    init() throws(NoteError) {
        guard let key = SecKeyCreateRandomKey(NoteKey.type as CFDictionary, nil) else { throw .damaged }
        self.key = key
    }

    /// Reads the key; the keychain asks the person, with the texts of the context.
    init(_ way: Way, _ id: String, _ context: LAContext) throws(NoteError) {
        let more: [String: Any] = [
            kSecReturnData as String: true,
            kSecUseAuthenticationContext as String: context,
        ]
        var result: CFTypeRef?
        try NoteKey.check(SecItemCopyMatching(NoteKey.query(way, id, more), &result))
        let attributes = NoteKey.type.merging([kSecAttrKeyClass as String: kSecAttrKeyClassPrivate]) { $1 }
        guard let data = result as? Data,
            let key = SecKeyCreateWithData(data as CFData, attributes as CFDictionary, nil)
        else { throw .damaged }
        self.key = key
    }

    /// Encrypts a text.
    func seal(_ text: String) throws(NoteError) -> Data {
        guard let publicKey = SecKeyCopyPublicKey(key),
            let sealed = SecKeyCreateEncryptedData(publicKey, NoteKey.algorithm, Data(text.utf8) as CFData, nil)
        else { throw .damaged }
        return sealed as Data
    }

    /// Decrypts a text.
    func open(_ sealed: Data) throws(NoteError) -> String {
        guard let opened = SecKeyCreateDecryptedData(key, NoteKey.algorithm, sealed as CFData, nil),
            let text = String(data: opened as Data, encoding: .utf8)
        else { throw .damaged }
        return text
    }

    /// Whether the key is stored for a way; asks nobody.
    static func isStored(_ way: Way, _ id: String) -> Bool {
        SecItemCopyMatching(query(way, id, [:]), nil) == errSecSuccess
    }

    /// Stores the key for a way; for the password, the keychain asks the person to choose one.
    func store(_ way: Way, _ id: String) throws(NoteError) {
        guard let bytes = SecKeyCopyExternalRepresentation(key, nil) else { throw .damaged }
        let access = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            way == .touch ? .biometryAny : .applicationPassword,
            nil
        )
        let more: [String: Any] = [
            kSecAttrLabel as String: "Your note",
            kSecAttrAccessControl as String: access as Any,
            kSecValueData as String: bytes as Data,
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
