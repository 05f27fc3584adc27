#if !Keys
import KeychaindModel
import SecretServiceClient

// In place of the folders Keys, Certificates, PKCS12 and Trust: items are passwords, and others cannot be added.

/// The value of ``kSecValueRef`` other than an item; there is none.
struct ReferencedObject: Sendable {
    let itemClass: ItemClass? = nil
    let reference: PersistentReference? = nil

    init?(_ object: AnyObject) { return nil }

    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] { [:] }
}

/// The conditions of a query on certificates; there are none.
struct CertificateConditions: Sendable {
    let isEmpty = true

    init() {}

    init(_ unread: inout [String: QueryValue], ignoresCase: Bool) throws(StatusError) {}
}

/// The functions of SecItem for identities.
enum IdentityQuery {
    static func add(_ query: ItemQuery, _ result: UnsafeMutablePointer<CFTypeRef?>?) throws(StatusError) {
        throw .withoutKeys
    }

    static func copy(_ query: ItemQuery, _ result: UnsafeMutablePointer<CFTypeRef?>?) throws(StatusError) {
        throw .withoutKeys
    }

    static func update(_ query: ItemQuery, _ changes: ItemQuery) throws(StatusError) { throw .withoutKeys }

    static func delete(_ query: ItemQuery) throws(StatusError) { throw .withoutKeys }
}

extension ItemQuery {
    /// Refuses a key or certificate.
    mutating func takeContents() throws(StatusError) {
        guard itemClass != .key, itemClass != .certificate else { throw .withoutKeys }
    }
}

extension FoundItem {
    /// The key or certificate in the item, which stays an item.
    var contents: AnyObject? { get throws(StatusError) { nil } }
}

extension SecretClient {
    func areMet(_ conditions: CertificateConditions, by item: FoundItem) async throws(SecretServiceError) -> Bool {
        true
    }
}

extension SecretServiceError {
    /// The result code of a failed operation with a key, which there is none of.
    var keyStatus: OSStatus? { nil }
}

extension StatusError {
    fileprivate static let withoutKeys = StatusError(
        errSecUnimplemented,
        "the program is built without keys and certificates: its package leaves out the trait Keys of keychaind"
    )
}
#endif
