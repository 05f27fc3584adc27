#if Keys
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel

/// A private key in PKCS #8 (RFC 5208).
///
/// Read from secret memory in place: an `ASN1Node` would copy the key into memory that is not wiped.
enum PrivateKeyInfo {
    /// Throws ``errSecDecode`` if the bytes are not a private key, ``errSecUnimplemented`` for another algorithm.
    static func key(_ der: borrowing SecureBytes) throws(StatusError) -> KeyMaterial {
        try der.withUnsafeBytes { (der) throws(StatusError) in
            var whole = DERCursor(der)
            var info = try whole.contents(.sequence)
            _ = try info.contents(.integer)
            var algorithm = try info.contents(.sequence)
            let key = try info.contents(.octetString)
            switch Array(try algorithm.contents(.objectIdentifier).bytes) {
            case rsaEncryption: return try material(SecureBytes.copying(key.bytes), .rsa)
            case ecPublicKey:
                let curve = curves[Array(try algorithm.contents(.objectIdentifier).bytes)]
                guard let curve else { throw StatusError(errSecUnimplemented, "the curve of a key is not supported") }
                return try material(x963(key, on: curve), .ec)
            default: throw StatusError(errSecUnimplemented, "the algorithm of a key is not supported")
            }
        }
    }

    // Contents of object identifiers in DER.
    private static let rsaEncryption: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    private static let ecPublicKey: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    private static let curves: [[UInt8]: PrimeCurve] = [
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]: .p256, [0x2b, 0x81, 0x04, 0x00, 0x22]: .p384,
        [0x2b, 0x81, 0x04, 0x00, 0x23]: .p521,
    ]

    private static func material(_ bytes: consuming SecureBytes, _ type: KeyType) throws(StatusError) -> KeyMaterial {
        do throws(KeyError) {
            return try KeyMaterial(bytes, type: type, keyClass: .private)
        } catch {
            throw StatusError(error)
        }
    }

    /// The key of an `ECPrivateKey` (RFC 5915) in Apple's external representation.
    private static func x963(_ key: DERCursor, on curve: PrimeCurve) throws(StatusError) -> SecureBytes {
        var key = key
        var fields = try key.contents(.sequence)
        _ = try fields.contents(.integer)
        let number = try fields.contents(.octetString).bytes
        guard number.count <= curve.size else { throw StatusError(errSecDecode, "a private key is too long") }
        do throws(GcryptError) {
            var scalar = try SecureBytes(count: curve.size, in: .locked)
            scalar.withUnsafeMutableBytes { scalar in
                UnsafeMutableRawBufferPointer(rebasing: scalar.suffix(number.count)).copyBytes(from: number)
            }
            let point = try curve.publicKey(of: scalar)
            var joined = try SecureBytes(count: point.count + scalar.count, in: .locked)
            joined.withUnsafeMutableBytes { joined in
                joined.copyBytes(from: point)
                scalar.withUnsafeBytes { scalar in
                    UnsafeMutableRawBufferPointer(rebasing: joined[point.count...]).copyBytes(from: scalar)
                }
            }
            return joined
        } catch {
            throw error.code == .invalidParameters ? StatusError(errSecDecode, error.reason) : StatusError(error)
        }
    }
}

extension SecureBytes {
    fileprivate static func copying(_ bytes: UnsafeRawBufferPointer) throws(StatusError) -> SecureBytes {
        try StatusError.translating { () throws(GcryptError) in try SecureBytes(copying: bytes, in: .locked) }
    }
}

/// A position in DER; valid as long as the bytes.
struct DERCursor {
    /// The identifiers of the needed types.
    enum Tag: UInt8 {
        case integer = 0x02
        case octetString = 0x04
        case objectIdentifier = 0x06
        case sequence = 0x30
    }

    /// What is left.
    private(set) var bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The contents of the next value, which is passed.
    ///
    /// Throws ``errSecDecode`` if it has another type.
    mutating func contents(_ tag: Tag) throws(StatusError) -> DERCursor {
        guard bytes.count >= 2, bytes[0] == tag.rawValue else { throw DERCursor.malformed }
        var start = 2
        var length = Int(bytes[1])
        if length >= 0x80 {
            let size = length - 0x80
            guard (1...3).contains(size), bytes.count >= 2 + size else { throw DERCursor.malformed }
            length = bytes[2..<(2 + size)].reduce(0) { $0 << 8 | Int($1) }
            start += size
        }
        guard length <= bytes.count - start else { throw DERCursor.malformed }
        let contents = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
        bytes = UnsafeRawBufferPointer(rebasing: bytes[(start + length)...])
        return DERCursor(contents)
    }

    private static var malformed: StatusError { StatusError(errSecDecode, "the private key is malformed") }
}
#endif
