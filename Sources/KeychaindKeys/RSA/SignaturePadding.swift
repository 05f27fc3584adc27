import KeychaindGcrypt

/// Encodings of a digest that RSA signs (RFC 8017, section 9).
enum SignaturePadding {
    /// EMSA-PKCS1-v1_5, around any bytes; nil if they are too many for the modulus.
    ///
    /// - Parameter size: the size of the modulus in bytes.
    static func pkcs1(_ bytes: [UInt8], size: Int) -> [UInt8]? {
        guard bytes.count <= size - 11 else { return nil }
        return [0, 1] + [UInt8](repeating: 0xff, count: size - 3 - bytes.count) + [0] + bytes
    }

    /// EMSA-PSS with the hash function in the mask too, and a salt of its size.
    ///
    /// - Parameter bits: the size of the modulus.
    static func pss(_ digest: [UInt8], hash: HashFunction, bits: Int) throws(GcryptError) -> [UInt8] {
        try pss(digest, hash: hash, bits: bits, salt: RandomBytes.nonce(hash.size))
    }

    static func pss(
        _ digest: [UInt8],
        hash: HashFunction,
        bits: Int,
        salt: [UInt8]
    ) throws(GcryptError) -> [UInt8] {
        let size = encodedSize(bits)
        guard size >= hash.size + salt.count + 2 else {
            throw GcryptError(.invalidParameters, reason: "the modulus is too small for the padding")
        }
        let check = try checkDigest(digest, salt, hash)
        let zeros = [UInt8](repeating: 0, count: size - hash.size - salt.count - 2)
        var block = zeros + [1] + salt
        try mask(&block, seed: check, hash)
        block[0] &= firstMask(bits)
        return block + check + [trailer]
    }

    /// Whether an encoding, of the size of the modulus, is EMSA-PSS of a digest with a salt of the hash function's
    /// size.
    static func isPSS(_ encoding: [UInt8], of digest: [UInt8], hash: HashFunction, bits: Int) throws(GcryptError)
        -> Bool
    {
        let size = encodedSize(bits)
        guard size >= 2 * hash.size + 2, digest.count == hash.size else { return false }
        // The modulus may have one byte more than the encoding.
        let excess = encoding.count - size
        guard excess >= 0, encoding.prefix(excess).allSatisfy({ $0 == 0 }), encoding.last == trailer else {
            return false
        }
        let body = Array(encoding.dropFirst(excess).dropLast())
        var block = Array(body.dropLast(hash.size))
        let check = Array(body.suffix(hash.size))
        guard block[0] & ~firstMask(bits) == 0 else { return false }
        try mask(&block, seed: check, hash)
        block[0] &= firstMask(bits)
        let zeros = block.count - hash.size - 1
        guard block.prefix(zeros).allSatisfy({ $0 == 0 }), block[zeros] == 1 else { return false }
        return try checkDigest(digest, Array(block.suffix(hash.size)), hash) == check
    }

    private static let trailer: UInt8 = 0xbc

    /// The encoding has one bit less than the modulus.
    private static func encodedSize(_ bits: Int) -> Int { (bits - 1 + 7) / 8 }

    /// The bits of the first byte that belong to the encoding.
    private static func firstMask(_ bits: Int) -> UInt8 {
        0xff >> UInt8(encodedSize(bits) * 8 - (bits - 1))
    }

    private static func checkDigest(
        _ digest: [UInt8],
        _ salt: [UInt8],
        _ hash: HashFunction
    ) throws(GcryptError) -> [UInt8] {
        try hash.digest(of: [UInt8](repeating: 0, count: 8) + digest + salt)
    }

    private static func mask(_ block: inout [UInt8], seed: [UInt8], _ hash: HashFunction) throws(GcryptError) {
        var masked = try SecureBytes(copying: block)
        try masked.withUnsafeMutableBytes { (masked) throws(GcryptError) in
            try seed.span.withUnsafeBytes { (seed) throws(GcryptError) in try hash.mask(masked, seed: seed) }
        }
        block = masked.withUnsafeBytes { Array($0) }
    }
}
