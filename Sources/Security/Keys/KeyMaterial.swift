import KeychaindGcrypt
import KeychaindModel

/// A checked key in Apple's external representation, with derived values.
///
/// RSA keys are PKCS #1. Elliptic-curve keys are ANSI X9.63: 4, x, y, and the scalar of a private key. Others are any
/// bytes.
struct KeyMaterial: Hashable, Sendable {
    let type: KeyType
    let keyClass: KeyClass
    let bytes: [UInt8]

    /// The size in bits; for elliptic curves, that of the field.
    let bits: Int

    /// The public key; nil for a symmetric key.
    let publicBytes: [UInt8]?

    /// Throws ``errSecDecode`` if the bytes are not such a key, ``errSecUnimplemented`` if the type is not supported.
    init(_ bytes: [UInt8], type: KeyType, keyClass: KeyClass) throws(StatusError) {
        self.type = type
        self.keyClass = keyClass
        self.bytes = bytes
        switch (type, keyClass) {
        case (.rsa, .public):
            bits = try RSAKeyCoding.bits(ofPublicKey: bytes)
            publicBytes = bytes
        case (.rsa, .private):
            (publicBytes, bits) = try RSAKeyCoding.privateKey(bytes)
        case (.ec, .public):
            bits = try KeyMaterial.curve(ofPoint: bytes).bits
            publicBytes = bytes
        case (.ec, .private):
            (publicBytes, bits) = try KeyMaterial.privateKey(bytes)
        case (.aes, .symmetric), (.des, .symmetric), (.tripleDES, .symmetric), (.rc2, .symmetric), (.rc4, .symmetric),
            (.cast, .symmetric):
            guard !bytes.isEmpty else { throw StatusError(errSecDecode, "the key is empty") }
            bits = bytes.count * 8
            publicBytes = nil
        default:
            throw StatusError(
                errSecUnimplemented,
                "\(keyClass.rawValue) keys of type \(type.rawValue) are not supported"
            )
        }
    }

    /// Generates a private key.
    init(making type: KeyType, bits: Int) throws(StatusError) {
        switch type {
        case .rsa where RSANumbers.newSizes.contains(bits):
            let numbers = try StatusError.translating { () throws(GcryptError) in try RSANumbers(bits: bits) }
            try self.init(RSAKeyCoding.encode(numbers), type: .rsa, keyClass: .private)
        case .ec:
            guard let curve = PrimeCurve.allCases.first(where: { $0.bits == bits }) else { fallthrough }
            let key = try StatusError.translating { () throws(GcryptError) in
                let scalar = try curve.makePrivateKey()
                return try curve.publicKey(of: scalar) + scalar.withUnsafeBytes { Array($0) }
            }
            try self.init(key, type: .ec, keyClass: .private)
        default:
            throw StatusError(errSecUnimplemented, "keys of \(bits) bits and type \(type.rawValue) cannot be generated")
        }
    }

    /// The public key of a private key; nil for a symmetric key.
    var publicKey: KeyMaterial? {
        guard let publicBytes else { return nil }
        return try? KeyMaterial(publicBytes, type: type, keyClass: .public)
    }

    /// SHA-1 of the public key, which links both keys of a pair and their certificate.
    func publicKeyHash() throws(StatusError) -> [UInt8]? {
        guard let publicBytes else { return nil }
        return try StatusError.translating { () throws(GcryptError) in try SHA1.digest(of: publicBytes) }
    }

    /// The attributes of its item.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        var values: [KeychainAttribute: KeychainValue] = [
            .keyClass: .text(keyClass.code), .keyType: .text(type.code), .keySize: .number(Int64(bits)),
            .effectiveKeySize: .number(Int64(bits)),
        ]
        values[.applicationLabel] = try publicKeyHash().map(KeychainValue.data)
        return values
    }

    private static func curve(ofPoint point: [UInt8]) throws(StatusError) -> PrimeCurve {
        guard let curve = PrimeCurve.allCases.first(where: { point.count == 1 + 2 * $0.size }),
            try StatusError.translating({ () throws(GcryptError) in try curve.isPublicKey(point) })
        else { throw StatusError(errSecDecode, "the data is not a point of a supported curve") }
        return curve
    }

    private static func privateKey(_ bytes: [UInt8]) throws(StatusError) -> (publicBytes: [UInt8], bits: Int) {
        guard let curve = PrimeCurve.allCases.first(where: { bytes.count == 1 + 3 * $0.size }) else {
            throw StatusError(errSecDecode, "the data is not a private key of a supported curve")
        }
        let point = Array(bytes.prefix(1 + 2 * curve.size))
        let found: [UInt8]
        do throws(GcryptError) {
            found = try curve.publicKey(of: SecureBytes(copying: Array(bytes.suffix(curve.size)), in: .locked))
        } catch {
            throw error.code == .invalidParameters ? StatusError(errSecDecode, error.reason) : StatusError(error)
        }
        guard found == point else { throw StatusError(errSecDecode, "private and public key do not match") }
        return (point, curve.bits)
    }
}
