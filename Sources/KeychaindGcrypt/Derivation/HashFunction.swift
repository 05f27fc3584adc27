import CKeychaindGcrypt

/// The hash functions of signatures, paddings and key derivation (FIPS 180-4).
package enum HashFunction: String, CaseIterable, Hashable, Sendable {
    /// For the algorithms of others that name it; its collisions are known.
    case sha1

    case sha224
    case sha256
    case sha384
    case sha512

    /// The size of a digest in bytes.
    package var size: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    var algorithm: Int32 {
        switch self {
        case .sha1: Int32(GCRY_MD_SHA1.rawValue)
        case .sha224: Int32(GCRY_MD_SHA224.rawValue)
        case .sha256: Int32(GCRY_MD_SHA256.rawValue)
        case .sha384: Int32(GCRY_MD_SHA384.rawValue)
        case .sha512: Int32(GCRY_MD_SHA512.rawValue)
        }
    }

    package func digest(of message: [UInt8]) throws(GcryptError) -> [UInt8] {
        try Gcrypt.initializeIfNeeded()
        var digest = [UInt8](repeating: 0, count: size)
        gcry_md_hash_buffer(algorithm, &digest, message, message.count)
        return digest
    }
}
