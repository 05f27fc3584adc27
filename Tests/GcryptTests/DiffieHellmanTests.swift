import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.lockedPool) struct DiffieHellmanTests {
    @Test(arguments: Vector.cases(of: "generated-sessions"))
    func session_vector_matches(vector: Vector) throws {
        let pair = try DiffieHellman(group(of: vector), exponent: SecureBytes(copying: vector.bytes("exponent")))
        let publicKey = pair.publicKey
        #expect(publicKey == (try vector.bytes("public")))
        let secret = try pair.sharedSecret(with: vector.bytes("peer"))
        #expect(secret.array() == (try vector.bytes("shared")))
        let cipher = try SessionCipher(sharedSecret: secret)
        let (plaintext, iv) = (try vector.bytes("plaintext"), try vector.bytes("iv"))
        let ciphertext = try cipher.encrypt(plaintext, iv: iv)
        #expect(ciphertext == (try vector.bytes("ciphertext")))
        #expect(try cipher.decrypt(ciphertext, iv: iv) == plaintext)
    }

    @Test func vectors_includeInvalidCases() throws {
        for group in ["oakley2", "modp1536"] {
            let vectors = try Vector.cases(of: "generated-sessions").filter { try $0.text("group") == group }
            #expect(vectors.count == 5)
            for field in ["public", "shared"] {
                #expect(try vectors.contains { try $0.bytes(field).first == 0 })
                #expect(try vectors.contains { try $0.bytes(field)[0] >= 0x80 })
            }
            #expect(try vectors.contains { try $0.bytes("peer").count < $0.bytes("public").count })
        }
    }

    /// The public keys begin with the bytes FF FB, FF 5D and 7F FD.
    @Test(arguments: [([0x08, 0x87], true), ([0x08, 0x71], false), ([0x08, 0x86], false)] as [([UInt8], Bool)])
    func publicKey_firstByteSaysNothing_isMisreadAsSigned(exponent: [UInt8], isMisread: Bool) throws {
        let pair = try DiffieHellman(.oakley2, exponent: SecureBytes(copying: exponent))
        #expect(pair.isMisreadAsSigned == isMisread, "\(pair.publicKey.prefix(2))")
    }

    @Test(arguments: Vector.cases(of: "generated-sessions"), [1, 2, 64, 1000])
    func sharedSecret_leadingZeros_areIgnored(vector: Vector, zeros: Int) throws {
        let pair = try DiffieHellman(group(of: vector), exponent: SecureBytes(copying: vector.bytes("exponent")))
        let secret = try pair.sharedSecret(with: [UInt8](repeating: 0, count: zeros) + vector.bytes("peer"))
        #expect(secret.array() == (try vector.bytes("shared")))
    }

    @Test(arguments: DiffieHellman.Group.allCases)
    func sharedSecret_bothSides_isEqual(group: DiffieHellman.Group) throws {
        for _ in 0..<20 {
            let mine = try DiffieHellman(group)
            let theirs = try DiffieHellman(group)
            let (myKey, theirKey) = (mine.publicKey, theirs.publicKey)
            let secret = try mine.sharedSecret(with: theirKey)
            #expect(myKey.count == group.size)
            #expect(myKey != theirKey)
            #expect(secret.array().count == group.size)
            #expect(secret.array() == (try theirs.sharedSecret(with: myKey).array()))
        }
    }

    @Test(arguments: DiffieHellman.Group.allCases)
    func sharedSecret_degeneratePeer_throws(group: DiffieHellman.Group) throws {
        let pair = try DiffieHellman(group)
        let prime = Self.prime(of: group)
        let degenerate: [[UInt8]] = [
            [], [0], [1], [0, 0], [0, 1], [UInt8](repeating: 0, count: group.size),
            [UInt8](repeating: 0, count: group.size - 1) + [1],
            prime, Self.prime(of: group, plus: -1), Self.prime(of: group, plus: 1), Self.prime(of: group, plus: 2),
            [0] + prime,
            [UInt8](repeating: 0xff, count: group.size), [1] + prime, prime + [0],
            [UInt8](repeating: 0xff, count: 100_000),
        ]
        for peer in degenerate {
            #expect(code { _ = try pair.sharedSecret(with: peer) } == .invalidPublicKey)
        }
        #expect(code { _ = try pair.sharedSecret(with: nothing) } == .invalidPublicKey)
    }

    @Test(arguments: DiffieHellman.Group.allCases)
    func sharedSecret_extremePeers_areAccepted(group: DiffieHellman.Group) throws {
        let pair = try DiffieHellman(group)
        let publicKey = pair.publicKey
        let ofGenerator = try pair.sharedSecret(with: [2])
        #expect(ofGenerator.array() == publicKey)
        let ofLargest = try pair.sharedSecret(with: Self.prime(of: group, plus: -2))
        // (−2)^x is 2^x or −2^x.
        let negated = Self.difference(Self.prime(of: group), publicKey)
        #expect(ofLargest.array() == publicKey || ofLargest.array() == negated)
    }

    @Test(arguments: DiffieHellman.Group.allCases)
    func exponent_small_padsKeys(group: DiffieHellman.Group) throws {
        let pair = try DiffieHellman(group, exponent: SecureBytes(copying: [3]))
        let publicKey = pair.publicKey
        #expect(publicKey == [UInt8](repeating: 0, count: group.size - 1) + [8])
        let secret = try pair.sharedSecret(with: [5])
        #expect(secret.array() == [UInt8](repeating: 0, count: group.size - 1) + [125])
    }

    @Test(arguments: [[], [0], [0, 0, 0], [UInt8](repeating: 1, count: 65)] as [[UInt8]])
    func exponent_zeroOrOfOtherSize_throws(exponent: [UInt8]) {
        let failure = code { _ = try DiffieHellman(.oakley2, exponent: SecureBytes(copying: exponent)) }
        #expect(failure == .invalidParameters)
    }

    private func group(of vector: Vector) throws -> DiffieHellman.Group {
        try vector.text("group") == "oakley2" ? .oakley2 : .modp1536
    }

    /// The prime of a group, copied again from the RFCs, plus a difference.
    private static func prime(of group: DiffieHellman.Group, plus difference: Int = 0) -> [UInt8] {
        let digits =
            switch group {
            case .oakley2:
                """
                FFFFFFFF FFFFFFFF C90FDAA2 2168C234 C4C6628B 80DC1CD1 29024E08 8A67CC74 020BBEA6 3B139B22 514A0879 8E3404DD
                EF9519B3 CD3A431B 302B0A6D F25F1437 4FE1356D 6D51C245 E485B576 625E7EC6 F44C42E9 A637ED6B 0BFF5CB6 F406B7ED
                EE386BFB 5A899FA5 AE9F2411 7C4B1FE6 49286651 ECE65381 FFFFFFFF FFFFFFFF
                """
            case .modp1536:
                """
                FFFFFFFF FFFFFFFF C90FDAA2 2168C234 C4C6628B 80DC1CD1 29024E08 8A67CC74 020BBEA6 3B139B22 514A0879 8E3404DD
                EF9519B3 CD3A431B 302B0A6D F25F1437 4FE1356D 6D51C245 E485B576 625E7EC6 F44C42E9 A637ED6B 0BFF5CB6 F406B7ED
                EE386BFB 5A899FA5 AE9F2411 7C4B1FE6 49286651 ECE45B3D C2007CB8 A163BF05 98DA4836 1C55D39A 69163FA8 FD24CF5F
                83655D23 DCA3AD96 1C62F356 208552BB 9ED52907 7096966D 670C354E 4ABC9804 F1746C08 CA237327 FFFFFFFF FFFFFFFF
                """
            }
        var prime = [UInt8](hexadecimal: digits)
        var carry = difference
        for index in prime.indices.reversed() {
            carry += Int(prime[index])
            prime[index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        return prime
    }

    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var result = left
        var borrow = 0
        for index in left.indices.reversed() {
            borrow += Int(left[index]) - Int(right[index])
            result[index] = UInt8(truncatingIfNeeded: borrow)
            borrow >>= 8
        }
        return result
    }
}
