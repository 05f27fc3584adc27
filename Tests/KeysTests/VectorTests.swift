import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport
import Testing

/// Published vectors; `Tests/Vectors/README.md` lists their sources.
struct VectorTests {
    @Test(arguments: Vector.cases(of: "rfc6979-ecdsa"))
    func sign_knownKey_matches(vector: Vector) throws {
        let key = try KeyMaterial(privateScalar: vector.bytes("private"))
        let algorithm = "algid:sign:ECDSA:message-RFC4754:\(try vector.text("hash"))"
        let signature = try key.sign(Array("sample".utf8), #require(KeyAlgorithm(rawValue: algorithm)))
        #expect(try signature == vector.bytes("r") + vector.bytes("s"))
    }

    @Test(arguments: Vector.cases(of: "wycheproof-ecdsa"))
    func verify_ecdsa_matches(vector: Vector) throws {
        try expectVerdict(vector, type: .ec)
    }

    @Test(arguments: Vector.cases(of: "wycheproof-rsa-signature"))
    func verify_rsa_matches(vector: Vector) throws {
        try expectVerdict(vector, type: .rsa)
    }

    @Test(arguments: Vector.cases(of: "wycheproof-ecdh"))
    func agree_point_matches(vector: Vector) throws {
        let key = try KeyMaterial(privateScalar: vector.bytes("private"))
        let publicKey = try vector.bytes("public")
        for agreement in KeyAlgorithm.Agreement.allCases {
            if try vector.text("result") == "valid" {
                let secret = try key.agree(with: publicKey, .ecdh(agreement))
                #expect(try secret.array() == vector.bytes("shared"))
            } else {
                #expect(throws: KeyError(.invalidInput, "")) { _ = try key.agree(with: publicKey, .ecdh(agreement)) }
            }
        }
    }

    @Test(arguments: Vector.cases(of: "wycheproof-rsa-oaep"))
    func decrypt_oaep_matches(vector: Vector) throws {
        let key = try KeyMaterial(vector.bytes("key"), type: .rsa, keyClass: .private)
        let algorithm = try #require(KeyAlgorithm(rawValue: vector.text("algorithm")))
        let ciphertext = try vector.bytes("ciphertext")
        if try vector.text("result") == "valid" {
            #expect(try key.decrypt(ciphertext, algorithm).array() == vector.bytes("message"))
        } else {
            #expect(throws: KeyError(.decryptionFailed, "")) { _ = try key.decrypt(ciphertext, algorithm) }
        }
    }

    @Test(arguments: Vector.cases(of: "nist-x963-kdf"))
    func derive_x963_matches(vector: Vector) throws {
        let secret = try SecureBytes(copying: vector.bytes("secret"))
        let key = try vector.bytes("key")
        let derived = try X963KeyDerivation.derive(
            from: secret,
            sharedInfo: vector.bytes("info"),
            hash: #require(HashFunction(rawValue: vector.text("hash"))),
            count: key.count
        )
        #expect(derived.array() == key)
    }

    private func expectVerdict(_ vector: Vector, type: KeyType) throws {
        let key = try KeyMaterial(vector.bytes("key"), type: type, keyClass: .public)
        let isValid = try key.verify(
            vector.bytes("signature"),
            of: vector.bytes("message"),
            #require(KeyAlgorithm(rawValue: vector.text("algorithm")))
        )
        #expect(try isValid == (vector.text("result") == "valid"))
    }
}
