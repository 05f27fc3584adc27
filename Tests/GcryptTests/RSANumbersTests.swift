import Gcrypt
import Testing

struct RSANumbersTests {
    @Test
    func init_2048_isConsistent_andOtherNumbersAreNot() throws {
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
    func init_anotherSize_isRefused(bits: Int) {
        #expect(throws: GcryptError(.invalidParameters, reason: "")) { try RSANumbers(bits: bits) }
    }

    @Test("RFC 3174, section 7.3")
    func digest_knownMessage_isKnown() throws {
        let digest = try SHA1.digest(of: Array("abc".utf8))
        #expect(digest.count == SHA1.size)
        #expect(digest.prefix(4).elementsEqual([0xa9, 0x99, 0x3e, 0x36]))
        #expect(try SHA1.digest(of: []).prefix(4).elementsEqual([0xda, 0x39, 0xa3, 0xee]))
    }
}
