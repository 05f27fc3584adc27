import Gcrypt
import KeychainModel

/// A key: its bytes in Apple's external form, checked, and what follows from them.
///
/// RSA keys are PKCS #1; those of elliptic curves are ANSI X9.63: 4, x, y, and the scalar of a private key. Others are bytes.
struct KeyMaterial: Hashable, Sendable {
    let type: KeyType
    let keyClass: KeyClass
    let bytes: [UInt8]

    /// The size in bits; of elliptic curves that of the field.
    let bits: Int

    /// The public key, which is the key itself if it is one; nil for a symmetric key.
    let publicBytes: [UInt8]?

    /// Throws ``errSecDecode`` if the bytes are no such key, and ``errSecUnimplemented`` for keys that are not known here.
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
            guard !bytes.isEmpty else { throw StatusError(errSecDecode, "a key without bytes") }
            bits = bytes.count * 8
            publicBytes = nil
        default:
            throw StatusError(errSecUnimplemented, "\(keyClass.rawValue) keys of type \(type.rawValue)")
        }
    }

    /// Makes a private key of a size.
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
            throw StatusError(errSecUnimplemented, "keys of \(bits) bits and type \(type.rawValue) are not made")
        }
    }

    /// The public key of a private one; nil for a symmetric key.
    var publicKey: KeyMaterial? {
        guard let publicBytes else { return nil }
        return try? KeyMaterial(publicBytes, type: type, keyClass: .public)
    }

    /// What a key pair is looked up by, and what joins a private key to a certificate: SHA-1 of the public key.
    func publicKeyHash() throws(StatusError) -> [UInt8]? {
        guard let publicBytes else { return nil }
        return try StatusError.translating { () throws(GcryptError) in try SHA1.digest(of: publicBytes) }
    }

    /// What an item keeps of it besides the bytes.
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
        else { throw StatusError(errSecDecode, "not a point of a known curve") }
        return curve
    }

    private static func privateKey(_ bytes: [UInt8]) throws(StatusError) -> (publicBytes: [UInt8], bits: Int) {
        guard let curve = PrimeCurve.allCases.first(where: { bytes.count == 1 + 3 * $0.size }) else {
            throw StatusError(errSecDecode, "not a private key of a known curve")
        }
        let point = Array(bytes.prefix(1 + 2 * curve.size))
        let found: [UInt8]
        do throws(GcryptError) {
            found = try curve.publicKey(of: SecureBytes(copying: Array(bytes.suffix(curve.size)), in: .locked))
        } catch {
            throw error.code == .invalidParameters ? StatusError(errSecDecode, error.reason) : StatusError(error)
        }
        guard found == point else { throw StatusError(errSecDecode, "a private key beside another's public key") }
        return (point, curve.bits)
    }
}
