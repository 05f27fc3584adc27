import KeychaindGcrypt
import Testing

struct RSANumbersTests {
    @Test
    func init_2048Bits_isConsistent() throws {
        let numbers = try RSANumbers(bits: 2048)
        #expect(numbers.modulus.count == 256 && numbers.modulus[0] >= 0x80)
        #expect(numbers.publicExponent == [1, 0, 1])
        #expect(try numbers.areConsistent())
        let parts: [WritableKeyPath<RSANumbers, [UInt8]>] = [
            \.modulus, \.publicExponent, \.privateExponent, \.prime1, \.prime2, \.exponent1, \.exponent2, \.coefficient,
        ]
        for part in parts {
            let cut = Array(numbers[keyPath: part].dropLast())
            for bytes in [[], [0], [1], [2], [0xff], cut, cut + [0]] as [[UInt8]] {
                var changed = numbers
                changed[keyPath: part] = bytes
                guard changed != numbers else { continue }
                #expect(try !changed.areConsistent())
            }
            var huge = numbers
            huge[keyPath: part] = [UInt8](repeating: 0xff, count: 1 << 16)
            #expect(try !huge.areConsistent())
        }
    }

    @Test(arguments: [0, -1, 512, 1024, 2049, 16384, .max])
    func init_otherSize_throws(bits: Int) {
        #expect(throws: GcryptError(.invalidParameters, reason: "")) { try RSANumbers(bits: bits) }
    }

    @Test("RFC 3174, section 7.3")
    func digest_knownMessage_matches() throws {
        let digest = try SHA1.digest(of: Array("abc".utf8))
        #expect(digest.count == SHA1.size)
        #expect(digest.prefix(4).elementsEqual([0xa9, 0x99, 0x3e, 0x36]))
        #expect(try SHA1.digest(of: []).prefix(4).elementsEqual([0xda, 0x39, 0xa3, 0xee]))
    }
}

struct PrimeCurveTests {
    @Test("RFC 6979, appendix A.2.5")
    func publicKey_knownKey_matches() throws {
        let scalar = try SecureBytes(
            copying: [
                0xc9, 0xaf, 0xa9, 0xd8, 0x45, 0xba, 0x75, 0x16, 0x6b, 0x5c, 0x21, 0x57, 0x67, 0xb1, 0xd6, 0x93, 0x4e,
                0x50, 0xc3, 0xdb, 0x36, 0xe8, 0x9b, 0x12, 0x7b, 0x8a, 0x62, 0x2b, 0x12, 0x0f, 0x67, 0x21,
            ] as [UInt8]
        )
        let point = try PrimeCurve.p256.publicKey(of: scalar)
        #expect(point.prefix(5).elementsEqual([4, 0x60, 0xfe, 0xd4, 0xba]))
        #expect(point.suffix(4).elementsEqual([0xd4, 0x46, 0x22, 0x99]))
        #expect(try PrimeCurve.p256.isPublicKey(point))
    }

    @Test(arguments: PrimeCurve.allCases)
    func makePrivateKey_hasPublicKey(curve: PrimeCurve) throws {
        let first = try curve.publicKey(of: curve.makePrivateKey())
        let second = try curve.publicKey(of: curve.makePrivateKey())
        #expect(first.count == 1 + 2 * curve.size)
        #expect(first != second)
        #expect(try curve.isPublicKey(first))
    }

    @Test(arguments: PrimeCurve.allCases)
    func publicKey_invalidScalar_throws(curve: PrimeCurve) throws {
        for bytes in [
            [UInt8](repeating: 0, count: curve.size), [UInt8](repeating: 0xff, count: curve.size), [1], [],
        ] {
            let scalar = try SecureBytes(copying: bytes)
            #expect(throws: GcryptError(.invalidParameters, reason: "")) { try curve.publicKey(of: scalar) }
        }
    }

    @Test(arguments: PrimeCurve.allCases)
    func isPublicKey_invalidPoint_isFalse(curve: PrimeCurve) throws {
        var point = try curve.publicKey(of: curve.makePrivateKey())
        #expect(try !curve.isPublicKey(Array(point.dropLast())))
        #expect(try !curve.isPublicKey(point + [0]))
        #expect(try !curve.isPublicKey([]))
        #expect(try !curve.isPublicKey([4] + [UInt8](repeating: 0xff, count: 2 * curve.size)))
        point[curve.size] ^= 1
        #expect(try !curve.isPublicKey(point))
        point[0] = 2
        #expect(try !curve.isPublicKey(point))
    }
}
