import SwiftASN1

/// The name of a subject or issuer (RFC 5280, section 4.1.2.4): attributes, the most general first.
struct DistinguishedName: Hashable, Sendable {
    /// The attributes that are text.
    let attributes: [(type: ASN1ObjectIdentifier, text: String)]

    /// The name in DER.
    let der: [UInt8]

    init(_ node: ASN1Node) throws(StatusError) {
        der = Array(node.encodedBytes)
        var attributes: [(type: ASN1ObjectIdentifier, text: String)] = []
        for set in try node.children(.sequence) {
            for pair in try set.children(.set) {
                let parts = try pair.children(.sequence)
                guard parts.count == 2 else { throw StatusError(errSecDecode, "an attribute of a name is none") }
                let type = try parts[0].objectIdentifier()
                if let text = DistinguishedName.text(parts[1]) { attributes.append((type, text)) }
            }
        }
        self.attributes = attributes
    }

    /// The most specific text of a type; nil if there is none.
    func text(of type: ASN1ObjectIdentifier) -> String? {
        attributes.last { $0.type == type && !$0.text.isEmpty }?.text
    }

    /// All texts of a type.
    func texts(of type: ASN1ObjectIdentifier) -> [String] {
        attributes.filter { $0.type == type }.map(\.text)
    }

    /// Compares the names byte for byte.
    static func == (left: DistinguishedName, right: DistinguishedName) -> Bool {
        left.der == right.der
    }

    /// Feeds the bytes.
    func hash(into hasher: inout Hasher) {
        hasher.combine(der)
    }

    private static func text(_ node: ASN1Node) -> String? {
        guard case .primitive(let bytes) = node.content else { return nil }
        switch node.identifier {
        case .utf8String, .printableString, .ia5String, .numericString, .visibleString:
            return String(validating: bytes, as: UTF8.self)
        case .teletexString:
            // What issuers write into it is Latin 1.
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case .bmpString:
            guard bytes.count.isMultiple(of: 2) else { return nil }
            let array = Array(bytes)
            let units = stride(from: 0, to: array.count, by: 2).map { UInt16(array[$0]) << 8 | UInt16(array[$0 + 1]) }
            return String(validating: units, as: UTF16.self)
        default:
            return nil
        }
    }
}
