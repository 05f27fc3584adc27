import SwiftASN1

/// The extensions of a certificate that the keychain looks at (RFC 5280, section 4.2).
struct CertificateExtensions: Hashable, Sendable {
    /// The identifier of the subject's key.
    private(set) var subjectKeyID: [UInt8]?

    /// The hosts among the subject's other names.
    private(set) var hosts: [String] = []

    /// The addresses among the subject's other names.
    private(set) var emailAddresses: [String] = []

    private static let limit = 1 << 20
    private static let keyIdentifier: ASN1ObjectIdentifier = [2, 5, 29, 14]
    private static let otherNames: ASN1ObjectIdentifier = [2, 5, 29, 17]

    /// Reads them from what follows the key in a certificate: two identifiers that nobody uses, and the extensions.
    init(_ fields: ArraySlice<ASN1Node>) throws(StatusError) {
        let tag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)
        for field in fields where field.identifier == tag {
            let lists = try field.children(tag)
            guard lists.count == 1 else { throw StatusError(errSecDecode, "extensions that are not one list") }
            for node in try lists[0].children(.sequence) { try read(node) }
        }
    }

    private mutating func read(_ node: ASN1Node) throws(StatusError) {
        let parts = try node.children(.sequence)
        // Between the two may be whether it is critical.
        guard let first = parts.first, let last = parts.last, 2...3 ~= parts.count else {
            throw StatusError(errSecDecode, "an extension that is none")
        }
        let value = try last.primitive(.octetString)
        switch try first.objectIdentifier() {
        case Self.keyIdentifier:
            subjectKeyID = try ASN1Node.parse(value, limit: Self.limit).primitive(.octetString)
        case Self.otherNames:
            for name in try ASN1Node.parse(value, limit: Self.limit).children(.sequence) {
                guard name.identifier.tagClass == .contextSpecific, case .primitive(let bytes) = name.content,
                    let text = String(validating: bytes, as: UTF8.self), !text.isEmpty
                else { continue }
                if name.identifier.tagNumber == 1 { emailAddresses.append(text) }
                if name.identifier.tagNumber == 2 { hosts.append(text) }
            }
        default:
            break
        }
    }
}
