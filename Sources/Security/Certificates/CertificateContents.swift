import Gcrypt
import KeychainModel
import SwiftASN1

/// What an X.509 certificate says (RFC 5280, section 4.1), as far as the keychain looks at it.
///
/// Neither the signature nor the dates are checked: a certificate that is kept need not be one that is trusted.
struct CertificateContents: Hashable, Sendable {
    /// 1, 2 or 3.
    let version: Int

    /// The serial number, as the certificate has it.
    let serialNumber: [UInt8]

    let issuer: DistinguishedName
    let subject: DistinguishedName

    /// What the key is for, and its parameters in DER.
    let keyAlgorithm: ASN1ObjectIdentifier
    let keyParameters: [UInt8]

    /// The public key: PKCS #1 for RSA, a point for elliptic curves.
    let publicKey: [UInt8]

    let extensions: CertificateExtensions

    private static let limit = 1 << 20

    /// Throws ``errSecDecode`` if the bytes are no certificate.
    init(_ der: [UInt8]) throws(StatusError) {
        let parts = try ASN1Node.parse(der, limit: Self.limit).children(.sequence)
        guard parts.count == 3 else { throw StatusError(errSecDecode, "not a certificate") }
        _ = try parts[1].children(.sequence)
        _ = try parts[2].bitString()
        var fields = try parts[0].children(.sequence)[...]
        version = try Self.version(&fields)
        guard fields.count >= 6 else { throw StatusError(errSecDecode, "a certificate with fields missing") }
        serialNumber = try fields.removeFirst().integer()
        _ = try fields.removeFirst().children(.sequence)
        issuer = try DistinguishedName(fields.removeFirst())
        _ = try fields.removeFirst().children(.sequence)
        subject = try DistinguishedName(fields.removeFirst())
        let key = try fields.removeFirst().children(.sequence)
        guard key.count == 2 else { throw StatusError(errSecDecode, "a certificate without a key") }
        let algorithm = try key[0].children(.sequence)
        guard 1...2 ~= algorithm.count else { throw StatusError(errSecDecode, "a key without an algorithm") }
        keyAlgorithm = try algorithm[0].objectIdentifier()
        keyParameters = algorithm.count == 2 ? Array(algorithm[1].encodedBytes) : []
        publicKey = try key[1].bitString()
        extensions = try CertificateExtensions(fields)
    }

    /// The name by which people know the subject; nil if it has none.
    var summary: String? {
        let types: [ASN1ObjectIdentifier] = [
            .NameAttributes.commonName, .NameAttributes.organizationalUnitName, .NameAttributes.organizationName,
            .NameAttributes.emailAddress,
        ]
        return types.lazy.compactMap { subject.text(of: $0) }.first
            ?? subject.attributes.last { !$0.text.isEmpty }?.text
            ?? extensions.hosts.first ?? extensions.emailAddresses.first
    }

    /// The addresses of the subject.
    var emailAddresses: [String] {
        subject.texts(of: .NameAttributes.emailAddress) + extensions.emailAddresses
    }

    /// The public key; throws ``errSecUnimplemented`` if it is for an algorithm that is not known here.
    func key() throws(StatusError) -> KeyMaterial {
        switch keyAlgorithm {
        case .AlgorithmIdentifier.rsaEncryption:
            return try KeyMaterial(publicKey, type: .rsa, keyClass: .public)
        case .AlgorithmIdentifier.idEcPublicKey:
            let material = try KeyMaterial(publicKey, type: .ec, keyClass: .public)
            let curve = try ASN1Node.parse(keyParameters, limit: Self.limit).objectIdentifier()
            guard Self.curves[curve] == material.bits else {
                throw StatusError(errSecDecode, "a point of another curve than the certificate says")
            }
            return material
        default:
            throw StatusError(errSecUnimplemented, "keys of \(keyAlgorithm)")
        }
    }

    /// What an item keeps of it besides the bytes.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        let key = publicKey
        let hash = try StatusError.translating { () throws(GcryptError) in try SHA1.digest(of: key) }
        var values: [KeychainAttribute: KeychainValue] = [
            // DER is the third of Apple's encodings.
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

    /// Takes the version off the fields; a certificate without one is of the first.
    private static func version(_ fields: inout ArraySlice<ASN1Node>) throws(StatusError) -> Int {
        let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        guard let first = fields.first, first.identifier == tag else { return 1 }
        fields.removeFirst()
        let numbers = try first.children(tag)
        guard numbers.count == 1, let number = try numbers[0].integer().first, (0...2).contains(number) else {
            throw StatusError(errSecDecode, "a certificate of an unknown version")
        }
        return Int(number) + 1
    }
}
