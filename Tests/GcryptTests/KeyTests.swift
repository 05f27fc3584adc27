import KeychaindGcrypt
import Testing

struct RSAPrivateKeyTests {
    @Test
    func init_2048Bits_isConsistent() throws {
        let key = try RSAPrivateKey(bits: 2048)
        #expect(try key.isConsistent())
        var numbers: [[UInt8]] = []
        for number in RSAPrivateKey.Number.allCases { numbers.append(try key.bytes(of: number).array()) }
        #expect(numbers[0].count == 256 && numbers[0][0] >= 0x80)
        #expect(numbers[1] == [1, 0, 1])
        #expect(try made(of: numbers).isConsistent())
        for index in numbers.indices {
            let cut = Array(numbers[index].dropLast())
            for bytes in [[], [0], [1], [2], [0xff], cut, cut + [0]] as [[UInt8]] where bytes != numbers[index] {
                var changed = numbers
                changed[index] = bytes
                #expect(try !made(of: changed).isConsistent())
            }
            var huge = numbers
            huge[index] = [UInt8](repeating: 0xff, count: 1 << 16)
            #expect(code { _ = try made(of: huge) } == .invalidParameters)
        }
    }

    @Test("A fault in one half of the computation would reveal a prime")
    func power_wrongCoefficient_throws() throws {
        let key = try RSAPrivateKey(bits: 2048)
        var numbers: [[UInt8]] = []
        for number in RSAPrivateKey.Number.allCases { numbers.append(try key.bytes(of: number).array()) }
        numbers[RSAPrivateKey.Number.coefficient.rawValue][100] ^= 1
        let faulty = try made(of: numbers)
        let x = [UInt8](repeating: 7, count: 256)
        let failure = code { try x.withUnsafeBytes { x in _ = try faulty.power(of: x) } }
        #expect(failure == .operationFailed)
    }

    private func made(of numbers: [[UInt8]]) throws -> RSAPrivateKey {
        let joined = numbers.flatMap { $0 }
        return try joined.span.withUnsafeBytes { bytes in
            try RSAPrivateKey { number in
                let start = numbers[..<number.rawValue].reduce(0) { $0 + $1.count }
                return UnsafeRawBufferPointer(rebasing: bytes[start..<(start + numbers[number.rawValue].count)])
            }
        }
    }

    @Test(arguments: [0, -1, 512, 1024, 2049, 16384, .max])
    func init_otherSize_throws(bits: Int) {
        #expect(throws: GcryptError(.invalidParameters, reason: "")) { _ = try RSAPrivateKey(bits: bits) }
    }

    @Test("RFC 3174, section 7.3")
    func digest_knownMessage_matches() throws {
        let digest = try HashFunction.sha1.digest(of: Array("abc".utf8))
        #expect(digest.count == HashFunction.sha1.size)
        #expect(digest.prefix(4).elementsEqual([0xa9, 0x99, 0x3e, 0x36]))
        #expect(try HashFunction.sha1.digest(of: []).prefix(4).elementsEqual([0xda, 0x39, 0xa3, 0xee]))
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
