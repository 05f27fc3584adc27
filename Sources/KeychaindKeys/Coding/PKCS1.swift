import KeychaindGcrypt

/// RSA keys in PKCS #1 (RFC 8017, appendix A.1), Apple's external representation.
enum PKCS1 {
    /// The most bits of a public exponent of a large key, as in OpenSSL: a longer one makes each use take seconds.
    private static let exponentBits = 64

    /// The largest modulus in bits that may have any exponent.
    private static let smallModulus = 3072

    /// Checks a public key and returns the size of the modulus in bits.
    static func bits(ofPublicKey der: [UInt8]) throws(KeyError) -> Int {
        let numbers = try IntegerSequence.parse(der, count: 2)
        return try checkedBits(modulus: numbers[0], exponent: numbers[1])
    }

    /// Checks a private key and that its numbers are consistent.
    static func publicKey(of der: UnsafeRawBufferPointer) throws(KeyError) -> (publicKey: [UInt8], bits: Int) {
        let ranges = try ranges(der)
        let modulus = Array(der[ranges[1]])
        let exponent = Array(der[ranges[2]])
        let bits = try checkedBits(modulus: modulus, exponent: exponent)
        let isConsistent: Bool
        do throws(GcryptError) {
            isConsistent = try PrivateKeyGate.run(bits: bits) { () throws(GcryptError) in
                try key(der, ranges).isConsistent()
            }
        } catch {
            throw error.code == .invalidParameters ? KeyError(.malformedKey, error.reason) : KeyError(error)
        }
        guard isConsistent else { throw KeyError(.malformedKey, "the numbers of the RSA key are inconsistent") }
        return (IntegerSequence.encode([modulus, exponent]), bits)
    }

    /// Reads a checked private key.
    static func privateKey(_ der: UnsafeRawBufferPointer) throws(KeyError) -> RSAPrivateKey {
        let ranges = try ranges(der)
        return try KeyError.translating { () throws(GcryptError) in try key(der, ranges) }
    }

    /// Reads a checked public key.
    static func publicKey(_ der: [UInt8]) throws(KeyError) -> RSAPublicKey {
        let numbers = try IntegerSequence.parse(der, count: 2)
        return try KeyError.translating { () throws(GcryptError) in
            try RSAPublicKey(modulus: numbers[0], exponent: numbers[1])
        }
    }

    /// Encodes a private key.
    static func encode(_ key: borrowing RSAPrivateKey) throws(GcryptError) -> SecureBytes {
        // The version, 0, and the numbers; those of a half have half the size.
        let numbers = RSAPrivateKey.Number.allCases
        let size = try key.bytes(of: .modulus).count
        return try IntegerSequence.encode(
            count: 1 + numbers.count,
            capacity: numbers.count * size
        ) { (index) throws(GcryptError) in
            index == 0 ? try SecureBytes(count: 0) : try key.bytes(of: numbers[index - 1])
        }
    }

    /// The places of the numbers of a private key, after its version.
    private static func ranges(_ der: UnsafeRawBufferPointer) throws(KeyError) -> [Range<Int>] {
        let ranges = try IntegerSequence.parse(der, count: 9)
        // Keys with more than two primes have another version.
        guard ranges[0].isEmpty else { throw KeyError(.malformedKey, "the RSA key has another version") }
        return ranges
    }

    private static func key(
        _ der: UnsafeRawBufferPointer,
        _ ranges: [Range<Int>]
    ) throws(GcryptError) -> RSAPrivateKey {
        try RSAPrivateKey { UnsafeRawBufferPointer(rebasing: der[ranges[1 + $0.rawValue]]) }
    }

    private static func checkedBits(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) -> Int {
        let bits = bitCount(modulus)
        guard RSAPrivateKey.sizes.contains(bits) else {
            throw KeyError(.malformedKey, "RSA keys of \(bits) bits are not supported")
        }
        guard let last = modulus.last, last & 1 == 1 else { throw KeyError(.malformedKey, "the RSA modulus is even") }
        guard let last = exponent.last, last & 1 == 1, exponent != [1], exponent.count <= modulus.count,
            bits <= smallModulus || bitCount(exponent) <= exponentBits
        else { throw KeyError(.malformedKey, "the exponent of the RSA key is invalid") }
        return bits
    }

    private static func bitCount(_ number: [UInt8]) -> Int {
        number.count * 8 - (number.first?.leadingZeroBitCount ?? 0)
    }
}
