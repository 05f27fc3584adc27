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
        let numbers = try numbers(der)
        let bits = try checkedBits(modulus: numbers.modulus, exponent: numbers.publicExponent)
        guard try KeyError.translating({ () throws(GcryptError) in try numbers.areConsistent() }) else {
            throw KeyError(.malformedKey, "the numbers of the RSA key are inconsistent")
        }
        return (IntegerSequence.encode([numbers.modulus, numbers.publicExponent]), bits)
    }

    /// The numbers of a private key, unchecked.
    static func numbers(_ der: UnsafeRawBufferPointer) throws(KeyError) -> RSANumbers {
        let all = try IntegerSequence.parse(der, count: 9)
        // Keys with more than two primes have another version.
        guard all[0].isEmpty else { throw KeyError(.malformedKey, "the RSA key has another version") }
        let numbers = all.map { Array(der[$0]) }
        return RSANumbers(
            modulus: numbers[1],
            publicExponent: numbers[2],
            privateExponent: numbers[3],
            primes: (numbers[4], numbers[5]),
            exponents: (numbers[6], numbers[7]),
            coefficient: numbers[8]
        )
    }

    /// Encodes a private key.
    static func encode(_ numbers: RSANumbers) -> [UInt8] {
        IntegerSequence.encode([
            [], numbers.modulus, numbers.publicExponent, numbers.privateExponent, numbers.prime1, numbers.prime2,
            numbers.exponent1, numbers.exponent2, numbers.coefficient,
        ])
    }

    private static func checkedBits(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) -> Int {
        let bits = bitCount(modulus)
        guard RSANumbers.sizes.contains(bits) else {
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
