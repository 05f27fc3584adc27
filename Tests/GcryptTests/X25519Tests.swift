import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.lockedPool) struct X25519Tests {
    @Test(arguments: Vector.cases(of: "rfc7748-x25519") + Vector.cases(of: "generated-x25519"))
    func sharedSecret_vector_matches(vector: Vector) throws {
        let pair = try X25519(privateKey: SecureBytes(copying: vector.bytes("scalar"), in: .locked))
        let secret = try pair.sharedSecret(with: vector.bytes("coordinate"))
        #expect(secret.array() == (try vector.bytes("product")))
        if let publicKey = try? vector.bytes("public") { #expect(pair.publicKey == publicKey) }
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "rfc7748-x25519").count == 5)
        #expect(Vector.cases(of: "generated-x25519").count == 12)
    }

    @Test func sharedSecret_thousandIterations_matchesRFC7748() throws {
        var scalar = [9] + [UInt8](repeating: 0, count: 31)
        var coordinate = scalar
        for _ in 0..<1000 {
            let product = try X25519(privateKey: SecureBytes(copying: scalar)).sharedSecret(with: coordinate)
            coordinate = scalar
            scalar = product.array()
        }
        #expect(scalar == [UInt8](hexadecimal: "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"))
    }

    @Test func sharedSecret_bothSides_isEqual() throws {
        for _ in 0..<20 {
            let mine = try X25519()
            let theirs = try X25519()
            let (myKey, theirKey) = (mine.publicKey, theirs.publicKey)
            #expect(myKey != theirKey)
            let secret = try mine.sharedSecret(with: theirKey)
            #expect(secret.array() == (try theirs.sharedSecret(with: myKey).array()))
        }
    }

    /// The points of order 1, 2, 4 and 8 on the curve and its twist, with their alternative encodings.
    @Test(
        arguments: [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ]
    )
    func sharedSecret_pointOfSmallOrder_throws(coordinate: String) throws {
        let pair = try X25519()
        let point = [UInt8](hexadecimal: coordinate)
        #expect(code { _ = try pair.sharedSecret(with: point) } == .invalidPublicKey)
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func sharedSecret_keyOfOtherSize_throws(count: Int) throws {
        let pair = try X25519()
        let key = [UInt8](repeating: 9, count: count)
        #expect(code { _ = try pair.sharedSecret(with: key) } == .invalidPublicKey)
        #expect(code { _ = try X25519(privateKey: SecureBytes(copying: key)) } == .invalidParameters)
    }

    @Test func privateKey_clampedBits_areIgnored() throws {
        var key = [UInt8](repeating: 0x55, count: 32)
        let publicKey = try X25519(privateKey: SecureBytes(copying: key)).publicKey
        key[0] ^= 0x07
        key[31] ^= 0xc0
        #expect(try X25519(privateKey: SecureBytes(copying: key)).publicKey == publicKey)
        key[0] ^= 0x08
        #expect(try X25519(privateKey: SecureBytes(copying: key)).publicKey != publicKey)
    }
}

@Suite(.lockedPool) struct KeyEncapsulationTests {
    @Test(arguments: Vector.cases(of: "generated-encapsulation"))
    func key_vector_matches(vector: Vector) throws {
        let owner = try X25519(privateKey: SecureBytes(copying: vector.bytes("owner")))
        let key = try KeyEncapsulation.key(
            from: vector.bytes("public"),
            of: owner,
            purpose: vector.bytes("purpose")
        )
        #expect(key.array() == (try vector.bytes("key")))
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "generated-encapsulation").count == 6)
    }

    @Test func key_owner_isEqual() throws {
        let owner = try X25519()
        let made = try KeyEncapsulation(to: owner.publicKey, purpose: [1, 2])
        #expect(made.publicKey.count == KeyEncapsulation.publicKeySize)
        let key = try KeyEncapsulation.key(from: made.publicKey, of: owner, purpose: [1, 2])
        #expect(key.array() == made.key.array())
        #expect(key.count == SealingKey.keySize)
    }

    @Test func key_otherOwnerPurposeOrPublicKey_differs() throws {
        let owner = try X25519()
        let other = try X25519()
        let made = try KeyEncapsulation(to: owner.publicKey, purpose: [1])
        let second = try KeyEncapsulation(to: owner.publicKey, purpose: [1])
        #expect(made.key.array() != second.key.array())
        #expect(made.publicKey != second.publicKey)
        let right = made.key.array()
        #expect(try KeyEncapsulation.key(from: made.publicKey, of: other, purpose: [1]).array() != right)
        #expect(try KeyEncapsulation.key(from: made.publicKey, of: owner, purpose: [2]).array() != right)
        #expect(try KeyEncapsulation.key(from: second.publicKey, of: owner, purpose: [1]).array() != right)
    }

    @Test func key_invalidPublicKey_throws() throws {
        let owner = try X25519()
        for key in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 31)] {
            #expect(code { _ = try KeyEncapsulation(to: key, purpose: []) } == .invalidPublicKey)
            #expect(
                code { _ = try KeyEncapsulation.key(from: key, of: owner, purpose: []) } == .invalidPublicKey
            )
        }
    }
}
