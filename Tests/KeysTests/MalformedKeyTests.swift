import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport
import Testing

struct MalformedKeyTests {
    @Test(arguments: ["0201", "8001", "81820a", "80", "84", "85", "ff"])
    func init_lengthThatIsNotDER_throws(length: String) throws {
        expectMalformed([0x30] + [UInt8](hexadecimal: length) + [0x02, 0x01, 0x03])
    }

    @Test("Each change makes a public key that must not be used")
    func init_publicNumbers_areChecked() throws {
        let modulus = try modulus()
        let exponent: [UInt8] = [1, 0, 1]
        #expect(throws: Never.self) { try publicKey(modulus, exponent) }
        let even = Array(modulus.dropLast()) + [modulus[255] & 0xfe]
        let large = [UInt8](repeating: 0xff, count: 512)
        for (modulus, exponent) in [
            (even, exponent), ([], exponent), ([3], exponent), (Array(modulus.prefix(63)), exponent),
            ([UInt8](repeating: 0xff, count: 2049), exponent), (modulus, []), (modulus, [1]), (modulus, [2]),
            (modulus, [0x80, 0]), (modulus, [UInt8](repeating: 0xff, count: 257)),
            // Each use would take seconds.
            (large, [UInt8](repeating: 0xff, count: 9)),
        ] {
            #expect(throws: KeyError(.malformedKey, "")) { try publicKey(modulus, exponent) }
        }
        #expect(throws: Never.self) { try publicKey(large, [UInt8](repeating: 0xff, count: 8)) }
    }

    @Test
    func init_encodingOfNumbers_isStrict() throws {
        let modulus = try modulus()
        let right = sequence(integer([0] + modulus) + integer([3]))
        #expect(throws: Never.self) { try KeyMaterial(right, type: .rsa, keyClass: .public) }
        expectMalformed(right + [0])
        expectMalformed(Array(right.dropLast()))
        expectMalformed(sequence(integer(modulus) + integer([3])))
        expectMalformed(sequence(integer([0, 0] + modulus) + integer([3])))
        expectMalformed(sequence(integer([0] + modulus) + integer([0, 3])))
        expectMalformed(sequence(integer([0] + modulus)))
        expectMalformed(sequence(integer([0] + modulus) + integer([3]) + integer([3])))
        expectMalformed(sequence(integer([0] + modulus) + [0x02, 0x00]))
        expectMalformed(sequence(integer([0] + modulus) + [0x04, 0x01, 0x03]))
        expectMalformed([])
        expectMalformed([0x30, 0x00])
        expectMalformed([UInt8](repeating: 0x30, count: 1 << 17))
    }

    @Test("Points off the curve, at infinity, compressed, of other curves")
    func init_point_isOnTheCurve() throws {
        for key in try Keys.all(.ec) {
            let point = try #require(key.publicBytes)
            var offCurve = point
            offCurve[point.count - 1] ^= 1
            var compressed = point
            compressed[0] = 2
            for wrong in [
                offCurve, compressed, Array(point.prefix(1 + point.count / 2)), [0], [],
                [4] + [UInt8](repeating: 0, count: point.count - 1),
                [4] + [UInt8](repeating: 0xff, count: point.count - 1),
            ] {
                #expect(throws: KeyError(.malformedKey, "")) { try KeyMaterial(wrong, type: .ec, keyClass: .public) }
                #expect(throws: KeyError(.malformedKey, "")) {
                    try KeyMaterial(wrong + key.bytes.suffix(point.count / 2), type: .ec, keyClass: .private)
                }
            }
        }
    }

    @Test("A scalar of zero, of the order or more, or of another key")
    func init_scalar_fitsThePoint() throws {
        let point = try #require(Keys.p256.get().publicBytes)
        let order = [UInt8](hexadecimal: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        for scalar in [
            [UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xff, count: 32),
            [UInt8](repeating: 0, count: 31) + [1],
        ] {
            #expect(throws: KeyError(.malformedKey, "")) {
                try KeyMaterial(point + scalar, type: .ec, keyClass: .private)
            }
        }
    }

    @Test(arguments: KeyType.allCases, KeyClass.allCases)
    func init_anyTypeAndClass_neverCrashes(type: KeyType, keyClass: KeyClass) {
        for bytes in [[], [0], [UInt8](repeating: 0x30, count: 65), [4] + [UInt8](repeating: 1, count: 96)] {
            _ = try? KeyMaterial(bytes, type: type, keyClass: keyClass)
        }
    }

    @Test(
        "Numbers that fit together but are no good key give an error or a signature",
        arguments: Vector.cases(of: "weak-rsa")
    )
    func sign_weakKey_neverGivesAWrongSignature(vector: Vector) throws {
        let key = try KeyMaterial(vector.bytes("key"), type: .rsa, keyClass: .private)
        let algorithm = KeyAlgorithm.rsaSignaturePKCS1(.sha1, .message)
        for message in [[], [1], [2], [3]] as [[UInt8]] {
            do {
                let signature = try key.sign(message, algorithm)
                #expect(try key.publicKey?.verify(signature, of: message, algorithm) == true)
            } catch {
                #expect(error == KeyError(.operationFailed, ""))
            }
        }
    }

    // MARK: Support

    private func modulus() throws -> [UInt8] {
        let der = try #require(Keys.rsa2048.get().publicBytes)
        // SEQUENCE, INTEGER with a sign byte, 256 bytes, the exponent.
        return Array(der.dropFirst(9).prefix(256))
    }

    private func integer(_ bytes: [UInt8]) -> [UInt8] { header(0x02, bytes.count) + bytes }

    private func sequence(_ bytes: [UInt8]) -> [UInt8] { header(0x30, bytes.count) + bytes }

    private func header(_ tag: UInt8, _ count: Int) -> [UInt8] {
        switch count {
        case ..<0x80: [tag, UInt8(count)]
        case ..<0x100: [tag, 0x81, UInt8(count)]
        default: [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        }
    }

    /// Encodes the numbers with the sign bytes that they need.
    private func publicKey(_ modulus: [UInt8], _ exponent: [UInt8]) throws {
        let numbers = [modulus, exponent].map { ($0.first ?? 0x80) >= 0x80 ? [0] + $0 : $0 }
        _ = try KeyMaterial(sequence(numbers.flatMap(integer)), type: .rsa, keyClass: .public)
    }

    private func expectMalformed(_ der: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: KeyError(.malformedKey, ""), sourceLocation: sourceLocation) {
            try KeyMaterial(der, type: .rsa, keyClass: .public)
        }
    }
}
