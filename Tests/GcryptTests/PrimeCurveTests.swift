import Gcrypt
import Testing

struct PrimeCurveTests {
    @Test("RFC 6979, appendix A.2.5")
    func publicKey_knownKey_isKnown() throws {
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
    func makePrivateKey_hasAPublicKey(curve: PrimeCurve) throws {
        let first = try curve.publicKey(of: curve.makePrivateKey())
        let second = try curve.publicKey(of: curve.makePrivateKey())
        #expect(first.count == 1 + 2 * curve.size)
        #expect(first != second)
        #expect(try curve.isPublicKey(first))
    }

    @Test(arguments: PrimeCurve.allCases)
    func publicKey_noScalar_isRefused(curve: PrimeCurve) throws {
        for bytes in [
            [UInt8](repeating: 0, count: curve.size), [UInt8](repeating: 0xff, count: curve.size), [1], [],
        ] {
            let scalar = try SecureBytes(copying: bytes)
            #expect(throws: GcryptError(.invalidParameters, reason: "")) { try curve.publicKey(of: scalar) }
        }
    }

    @Test(arguments: PrimeCurve.allCases)
    func isPublicKey_noPoint_isNot(curve: PrimeCurve) throws {
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
