#if Keys
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import SwiftASN1

/// The contents of an X.509 certificate (RFC 5280, section 4.1), as far as the keychain needs them.
///
/// Neither signature nor dates are checked: a stored certificate need not be trusted.
struct CertificateContents: Hashable, Sendable {
    /// The version: 1, 2 or 3.
    let version: Int

    /// The serial number, unchanged.
    let serialNumber: [UInt8]

    let issuer: DistinguishedName
    let subject: DistinguishedName

    let validity: CertificateValidity

    /// The algorithm of the key, and its parameters in DER.
    let keyAlgorithm: ASN1ObjectIdentifier
    let keyParameters: [UInt8]

    /// The public key: PKCS #1 for RSA, a point for elliptic curves.
    let publicKey: [UInt8]

    let extensions: CertificateExtensions

    private static let limit = 1 << 20

    /// Throws ``errSecDecode`` if the bytes are not a certificate.
    init(_ der: [UInt8]) throws(StatusError) {
        let parts = try ASN1Node.parse(der, limit: Self.limit).children(.sequence)
        guard parts.count == 3 else { throw StatusError(errSecDecode, "the data is not a certificate") }
        _ = try parts[1].children(.sequence)
        _ = try parts[2].bitString()
        var fields = try parts[0].children(.sequence)[...]
        version = try Self.version(&fields)
        guard fields.count >= 6 else { throw StatusError(errSecDecode, "the certificate is incomplete") }
        serialNumber = try fields.removeFirst().integer()
        _ = try fields.removeFirst().children(.sequence)
        issuer = try DistinguishedName(fields.removeFirst())
        validity = try CertificateValidity(fields.removeFirst())
        subject = try DistinguishedName(fields.removeFirst())
        let key = try fields.removeFirst().children(.sequence)
        guard key.count == 2 else { throw StatusError(errSecDecode, "the certificate has no key") }
        let algorithm = try key[0].children(.sequence)
        guard 1...2 ~= algorithm.count else { throw StatusError(errSecDecode, "the key has no algorithm") }
        keyAlgorithm = try algorithm[0].objectIdentifier()
        keyParameters = algorithm.count == 2 ? Array(algorithm[1].encodedBytes) : []
        publicKey = try key[1].bitString()
        extensions = try CertificateExtensions(fields)
    }

    /// The most recognisable name of the subject; nil if it has none.
    var summary: String? {
        let types: [ASN1ObjectIdentifier] = [
            .NameAttributes.commonName, .NameAttributes.organizationalUnitName, .NameAttributes.organizationName,
            .NameAttributes.emailAddress,
        ]
        return types.lazy.compactMap { subject.text(of: $0) }.first
            ?? subject.attributes.last { !$0.text.isEmpty }?.text
            ?? extensions.hosts.first ?? extensions.emailAddresses.first
    }

    /// The email addresses of the subject.
    var emailAddresses: [String] {
        subject.texts(of: .NameAttributes.emailAddress) + extensions.emailAddresses
    }

    /// The public key; throws ``errSecUnimplemented`` for an unsupported algorithm.
    func key() throws(StatusError) -> KeyMaterial {
        switch keyAlgorithm {
        case .AlgorithmIdentifier.rsaEncryption:
            return try KeyMaterial(checking: publicKey, type: .rsa, keyClass: .public)
        case .AlgorithmIdentifier.idEcPublicKey:
            let material = try KeyMaterial(checking: publicKey, type: .ec, keyClass: .public)
            let curve = try ASN1Node.parse(keyParameters, limit: Self.limit).objectIdentifier()
            guard Self.curves[curve] == material.bits else {
                throw StatusError(errSecDecode, "the key is not a point of the certificate's curve")
            }
            return material
        default:
            throw StatusError(errSecUnimplemented, "keys of the algorithm \(keyAlgorithm) are not supported")
        }
    }

    /// The attributes of its item.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        let key = publicKey
        let hash = try StatusError.translating { () throws(GcryptError) in try HashFunction.sha1.digest(of: key) }
        var values: [KeychainAttribute: KeychainValue] = [
            // Apple's number for DER.
            .certificateType: .number(Int64(version)), .certificateEncoding: .number(3),
            .serialNumber: .data(serialNumber), .issuer: .data(issuer.der), .subject: .data(subject.der),
            .publicKeyHash: .data(hash),
        ]
        values[.subjectKeyID] = extensions.subjectKeyID.map(KeychainValue.data)
        return values
    }

    private static let curves: [ASN1ObjectIdentifier: Int] = [
        .NamedCurves.secp256r1: 256, .NamedCurves.secp384r1: 384, .NamedCurves.secp521r1: 521,
    ]

    /// Removes the version from the fields; version 1 is omitted in certificates.
    private static func version(_ fields: inout ArraySlice<ASN1Node>) throws(StatusError) -> Int {
        let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        guard let first = fields.first, first.identifier == tag else { return 1 }
        fields.removeFirst()
        let numbers = try first.children(tag)
        let number = try numbers.first?.count()
        guard numbers.count == 1, let number, (0...2).contains(number) else {
            throw StatusError(errSecDecode, "the certificate has an unknown version")
        }
        return number + 1
    }
}

/// The extensions of a certificate that the keychain needs (RFC 5280, section 4.2).
struct CertificateExtensions: Hashable, Sendable {
    /// The subject key identifier.
    private(set) var subjectKeyID: [UInt8]?

    /// The host names among the alternative names.
    private(set) var hosts: [String] = []

    /// The email addresses among the alternative names.
    private(set) var emailAddresses: [String] = []

    private static let limit = 1 << 20
    private static let keyIdentifier: ASN1ObjectIdentifier = [2, 5, 29, 14]
    private static let otherNames: ASN1ObjectIdentifier = [2, 5, 29, 17]

    /// Reads the fields after the key: two obsolete identifiers and the extensions.
    init(_ fields: ArraySlice<ASN1Node>) throws(StatusError) {
        let tag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)
        for field in fields where field.identifier == tag {
            let lists = try field.children(tag)
            guard lists.count == 1 else { throw StatusError(errSecDecode, "the extensions are not a list") }
            for node in try lists[0].children(.sequence) { try read(node) }
        }
    }

    private mutating func read(_ node: ASN1Node) throws(StatusError) {
        let parts = try node.children(.sequence)
        // An optional flag for critical extensions is between them.
        guard let first = parts.first, let last = parts.last, 2...3 ~= parts.count else {
            throw StatusError(errSecDecode, "an extension is invalid")
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

/// The name of a subject or issuer (RFC 5280, section 4.1.2.4); the most general attributes first.
struct DistinguishedName: Hashable, Sendable {
    /// The text attributes.
    let attributes: [(type: ASN1ObjectIdentifier, text: String)]

    /// The name in DER.
    let der: [UInt8]

    init(_ node: ASN1Node) throws(StatusError) {
        der = Array(node.encodedBytes)
        var attributes: [(type: ASN1ObjectIdentifier, text: String)] = []
        for set in try node.children(.sequence) {
            for pair in try set.children(.set) {
                let parts = try pair.children(.sequence)
                guard parts.count == 2 else { throw StatusError(errSecDecode, "an attribute of a name is invalid") }
                let type = try parts[0].objectIdentifier()
                if let text = parts[1].text { attributes.append((type, text)) }
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

    /// Compares the encoded bytes.
    static func == (left: DistinguishedName, right: DistinguishedName) -> Bool {
        left.der == right.der
    }

    /// Hashes the bytes.
    func hash(into hasher: inout Hasher) {
        hasher.combine(der)
    }
}
#endif
