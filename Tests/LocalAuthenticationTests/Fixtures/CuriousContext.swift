import LocalAuthentication

/// A context whose reason is an item of the keychain, read when somebody wants to know it.
final class CuriousContext: LAContext, @unchecked Sendable {
    // Never changed: so it is Sendable like its superclass.
    private let query: CFDictionary

    init(_ query: CFDictionary) {
        self.query = query
        super.init()
    }

    override var localizedReason: String {
        get {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query, &result)
            return (result as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "status \(status)"
        }
        set {}
    }
}
