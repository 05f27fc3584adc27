import KeychaindGcrypt
import SwiftASN1

/// RSA keys in PKCS #1 (RFC 8017, appendix A.1), Apple's external representation.
enum RSAKeyCoding {
    private static let limit = 1 << 16

    /// Checks a public key; throws ``errSecDecode`` if it is invalid.
    ///
    /// - Returns: the size of the modulus in bits.
    static func bits(ofPublicKey der: [UInt8]) throws(StatusError) -> Int {
        let numbers = try numbers(der, count: 2)
        try checkExponent(numbers[1])
        return try bits(ofModulus: numbers[0])
    }

    /// Checks a private key; throws ``errSecDecode`` if it is invalid or inconsistent.
    static func privateKey(_ der: [UInt8]) throws(StatusError) -> (publicKey: [UInt8], bits: Int) {
        let all = try numbers(der, count: 9)
        // Keys with more than two primes have another version.
        guard all[0].isEmpty else { throw StatusError(errSecDecode, "the RSA key has another version") }
        let numbers = RSANumbers(
            modulus: all[1],
            publicExponent: all[2],
            privateExponent: all[3],
            primes: (all[4], all[5]),
            exponents: (all[6], all[7]),
            coefficient: all[8]
        )
        let bits = try bits(ofModulus: numbers.modulus)
        try checkExponent(numbers.publicExponent)
        guard try StatusError.translating({ () throws(GcryptError) in try numbers.areConsistent() }) else {
            throw StatusError(errSecDecode, "the numbers of the RSA key are inconsistent")
        }
        return (encode([numbers.modulus, numbers.publicExponent]), bits)
    }

    /// Encodes a private key.
    static func encode(_ numbers: RSANumbers) -> [UInt8] {
        encode([
            [], numbers.modulus, numbers.publicExponent, numbers.privateExponent, numbers.prime1, numbers.prime2,
            numbers.exponent1, numbers.exponent2, numbers.coefficient,
        ])
    }

    private static func numbers(_ der: [UInt8], count: Int) throws(StatusError) -> [[UInt8]] {
        var numbers: [[UInt8]] = []
        for node in try ASN1Node.parse(der, limit: limit).children(.sequence) {
            numbers.append(try node.unsignedInteger())
        }
        guard numbers.count == count else { throw StatusError(errSecDecode, "the data is not an RSA key") }
        return numbers
    }

    private static func bits(ofModulus modulus: [UInt8]) throws(StatusError) -> Int {
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard RSANumbers.sizes.contains(bits) else {
            throw StatusError(errSecDecode, "RSA keys of \(bits) bits are not supported")
        }
        return bits
    }

    private static func checkExponent(_ exponent: [UInt8]) throws(StatusError) {
        guard let last = exponent.last, last & 1 == 1, exponent != [1] else {
            throw StatusError(errSecDecode, "the exponent of the RSA key is invalid")
        }
    }

    private static func encode(_ numbers: [[UInt8]]) -> [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { serializer in
            for number in numbers { serializer.append(unsigned: number) }
        }
        return serializer.serializedBytes
    }
}
