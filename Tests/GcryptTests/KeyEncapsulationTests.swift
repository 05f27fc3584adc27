import Gcrypt
import Testing

@Suite(.lockedPool) struct KeyEncapsulationTests {
    @Test(arguments: Vector.cases(of: "generated-encapsulation"))
    func key_vector_isAsExpected(vector: Vector) throws {
        let owner = try X25519(privateKey: SecureBytes(copying: vector.bytes("owner")))
        let key = try KeyEncapsulation.key(
            from: vector.bytes("public"),
            of: owner,
            purpose: vector.bytes("purpose")
        )
        #expect(key.array() == (try vector.bytes("key")))
    }

    @Test func vectors_areThere() {
        #expect(Vector.cases(of: "generated-encapsulation").count == 6)
    }

    @Test func key_ofTheOwner_isTheOneThatWasMade() throws {
        let owner = try X25519()
        let made = try KeyEncapsulation(to: owner.publicKey, purpose: [1, 2])
        #expect(made.publicKey.count == KeyEncapsulation.publicKeySize)
        let key = try KeyEncapsulation.key(from: made.publicKey, of: owner, purpose: [1, 2])
        #expect(key.array() == made.key.array())
        #expect(key.count == SealingKey.keySize)
    }

    @Test func key_ofAnotherOwnerOrPurposeOrPublicKey_isAnother() throws {
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

    @Test func key_publicKeyThatIsNone_throws() throws {
        let owner = try X25519()
        for key in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 31)] {
            #expect(code { _ = try KeyEncapsulation(to: key, purpose: []) } == .invalidPublicKey)
            #expect(
                code { _ = try KeyEncapsulation.key(from: key, of: owner, purpose: []) } == .invalidPublicKey
            )
        }
    }
}
