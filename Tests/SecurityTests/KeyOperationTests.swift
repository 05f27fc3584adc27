import Foundation
import Security
import Testing

@Suite(.lockedPool)
struct KeyOperationTests {
    static let signatures: [SecKeyAlgorithm] = [
        .rsaSignatureDigestPKCS1v15Raw, .rsaSignatureMessagePKCS1v15SHA1, .rsaSignatureMessagePKCS1v15SHA224,
        .rsaSignatureMessagePKCS1v15SHA256, .rsaSignatureMessagePKCS1v15SHA384, .rsaSignatureMessagePKCS1v15SHA512,
        .rsaSignatureMessagePSSSHA1, .rsaSignatureMessagePSSSHA224, .rsaSignatureMessagePSSSHA256,
        .rsaSignatureMessagePSSSHA384, .rsaSignatureMessagePSSSHA512, .ecdsaSignatureMessageX962SHA1,
        .ecdsaSignatureMessageX962SHA224, .ecdsaSignatureMessageX962SHA256, .ecdsaSignatureMessageX962SHA384,
        .ecdsaSignatureMessageX962SHA512, .ecdsaSignatureMessageRFC4754SHA1, .ecdsaSignatureMessageRFC4754SHA224,
        .ecdsaSignatureMessageRFC4754SHA256, .ecdsaSignatureMessageRFC4754SHA384,
        .ecdsaSignatureMessageRFC4754SHA512, .ecdsaSignatureDigestX962, .ecdsaSignatureRFC4754,
        .ecdsaSignatureDigestRFC4754,
    ]

    /// With the size of the digest.
    static let digestSignatures: [(SecKeyAlgorithm, Int)] = [
        (.rsaSignatureDigestPKCS1v15SHA1, 20), (.rsaSignatureDigestPKCS1v15SHA224, 28),
        (.rsaSignatureDigestPKCS1v15SHA256, 32), (.rsaSignatureDigestPKCS1v15SHA384, 48),
        (.rsaSignatureDigestPKCS1v15SHA512, 64), (.rsaSignatureDigestPSSSHA1, 20), (.rsaSignatureDigestPSSSHA224, 28),
        (.rsaSignatureDigestPSSSHA256, 32), (.rsaSignatureDigestPSSSHA384, 48), (.rsaSignatureDigestPSSSHA512, 64),
        (.ecdsaSignatureDigestX962SHA1, 20), (.ecdsaSignatureDigestX962SHA224, 28),
        (.ecdsaSignatureDigestX962SHA256, 32), (.ecdsaSignatureDigestX962SHA384, 48),
        (.ecdsaSignatureDigestX962SHA512, 64), (.ecdsaSignatureDigestRFC4754SHA1, 20),
        (.ecdsaSignatureDigestRFC4754SHA224, 28), (.ecdsaSignatureDigestRFC4754SHA256, 32),
        (.ecdsaSignatureDigestRFC4754SHA384, 48), (.ecdsaSignatureDigestRFC4754SHA512, 64),
    ]

    static let encryptions: [SecKeyAlgorithm] = [
        .rsaEncryptionPKCS1, .rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA224, .rsaEncryptionOAEPSHA256,
        .rsaEncryptionOAEPSHA384, .rsaEncryptionOAEPSHA512, .rsaEncryptionOAEPSHA1AESGCM,
        .rsaEncryptionOAEPSHA224AESGCM, .rsaEncryptionOAEPSHA256AESGCM, .rsaEncryptionOAEPSHA384AESGCM,
        .rsaEncryptionOAEPSHA512AESGCM, .eciesEncryptionStandardX963SHA1AESGCM,
        .eciesEncryptionStandardX963SHA224AESGCM, .eciesEncryptionStandardX963SHA256AESGCM,
        .eciesEncryptionStandardX963SHA384AESGCM, .eciesEncryptionStandardX963SHA512AESGCM,
        .eciesEncryptionCofactorX963SHA1AESGCM, .eciesEncryptionCofactorX963SHA224AESGCM,
        .eciesEncryptionCofactorX963SHA256AESGCM, .eciesEncryptionCofactorX963SHA384AESGCM,
        .eciesEncryptionCofactorX963SHA512AESGCM, .eciesEncryptionStandardVariableIVX963SHA224AESGCM,
        .eciesEncryptionStandardVariableIVX963SHA256AESGCM, .eciesEncryptionStandardVariableIVX963SHA384AESGCM,
        .eciesEncryptionStandardVariableIVX963SHA512AESGCM, .eciesEncryptionCofactorVariableIVX963SHA224AESGCM,
        .eciesEncryptionCofactorVariableIVX963SHA256AESGCM, .eciesEncryptionCofactorVariableIVX963SHA384AESGCM,
        .eciesEncryptionCofactorVariableIVX963SHA512AESGCM,
    ]

    static let exchanges: [SecKeyAlgorithm] = [
        .ecdhKeyExchangeStandard, .ecdhKeyExchangeStandardX963SHA1, .ecdhKeyExchangeStandardX963SHA224,
        .ecdhKeyExchangeStandardX963SHA256, .ecdhKeyExchangeStandardX963SHA384, .ecdhKeyExchangeStandardX963SHA512,
        .ecdhKeyExchangeCofactor, .ecdhKeyExchangeCofactorX963SHA1, .ecdhKeyExchangeCofactorX963SHA224,
        .ecdhKeyExchangeCofactorX963SHA256, .ecdhKeyExchangeCofactorX963SHA384, .ecdhKeyExchangeCofactorX963SHA512,
    ]

    @Test(arguments: signatures)
    func createSignature_message_verifies(algorithm: SecKeyAlgorithm) throws {
        try expectSignatures(of: data("a message"), of: data("another"), algorithm)
    }

    @Test(arguments: digestSignatures)
    func createSignature_digest_verifies(algorithm: SecKeyAlgorithm, size: Int) throws {
        let digest = Data(repeating: 7, count: size)
        try expectSignatures(of: digest, of: Data(repeating: 8, count: size), algorithm)
        let key = try Self.key(algorithm)
        for wrong in [Data(), digest.dropLast(), digest + [0]] {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateSignature(key, algorithm, wrong as CFData, &error) == nil)
            expect(error, errSecParam)
        }
    }

    @Test(arguments: encryptions)
    func createEncryptedData_isDecryptedByItsKeyOnly(algorithm: SecKeyAlgorithm) throws {
        let key = try Self.key(algorithm)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        for plaintext in [Data(), data("secret")] {
            let ciphertext = try #require(
                SecKeyCreateEncryptedData(publicKey, algorithm, plaintext as CFData, nil) as Data?
            )
            #expect(SecKeyCreateDecryptedData(key, algorithm, ciphertext as CFData, nil) as Data? == plaintext)
            let again = SecKeyCreateEncryptedData(publicKey, algorithm, plaintext as CFData, nil) as Data?
            #expect(again != ciphertext)
            var flipped = ciphertext
            flipped[ciphertext.count / 2] ^= 1
            for wrong in [flipped, ciphertext.dropLast(), ciphertext + [0], ciphertext.prefix(40), Data()] {
                var error: Unmanaged<CFError>?
                #expect(SecKeyCreateDecryptedData(key, algorithm, wrong as CFData, &error) == nil)
                expect(error, errSecParam)
            }
        }
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateEncryptedData(key, algorithm, Data() as CFData, &error) == nil)
        expect(error, errSecParam)
    }

    @Test(arguments: exchanges)
    func copyKeyExchangeResult_isEqualOnBothSides(algorithm: SecKeyAlgorithm) throws {
        let mine = try Self.make(kSecAttrKeyTypeECSECPrimeRandom, 256)
        let theirs = try Self.make(kSecAttrKeyTypeECSECPrimeRandom, 256)
        let mineForThem = try #require(SecKeyCopyPublicKey(mine))
        let theirsForMe = try #require(SecKeyCopyPublicKey(theirs))
        let parameters: [SecKeyKeyExchangeParameter: Any] = [.requestedSize: 47, .sharedInfo: data("info")]
        let other = [SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 47] as CFDictionary
        let secret = try #require(
            SecKeyCopyKeyExchangeResult(mine, algorithm, theirsForMe, parameters as CFDictionary, nil) as Data?
        )
        #expect(
            SecKeyCopyKeyExchangeResult(theirs, algorithm, mineForThem, parameters as CFDictionary, nil) as Data?
                == secret
        )
        let isDerived = algorithm.rawValue.contains("KDF")
        #expect(secret.count == (isDerived ? 47 : 32))
        let withoutInfo = SecKeyCopyKeyExchangeResult(mine, algorithm, theirsForMe, other, nil) as Data?
        #expect((withoutInfo == secret) == !isDerived)
        for wrong in [[:], ["requestedSize": "x"], ["requestedSize": 0], ["requestedSize": Int.max]] as [[String: Any]]
        where isDerived || wrong["requestedSize"] is String {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCopyKeyExchangeResult(mine, algorithm, theirsForMe, wrong as CFDictionary, &error) == nil)
            expect(error, errSecParam)
        }
        let larger = try #require(SecKeyCopyPublicKey(Self.make(kSecAttrKeyTypeECSECPrimeRandom, 384)))
        for wrong in [larger, mine, try #require(SecKeyCopyPublicKey(Self.rsa.get()))] {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCopyKeyExchangeResult(mine, algorithm, wrong, parameters as CFDictionary, &error) == nil)
            expect(error, errSecParam)
        }
    }

    @Test("A68 Each algorithm fits one type of key, and the operations it is for")
    func isAlgorithmSupported_otherKeyOrOperation_isFalse() throws {
        let kinds: [([SecKeyAlgorithm], [SecKeyOperationType])] = [
            (Self.signatures + Self.digestSignatures.map(\.0) + [.rsaSignatureRaw], [.sign, .verify]),
            (Self.encryptions + [.rsaEncryptionRaw], [.encrypt, .decrypt]), (Self.exchanges, [.keyExchange]),
        ]
        let all: [SecKeyOperationType] = [.sign, .verify, .encrypt, .decrypt, .keyExchange]
        for (algorithms, operations) in kinds {
            for algorithm in algorithms {
                for type in [kSecAttrKeyTypeRSA, kSecAttrKeyTypeEC] {
                    let key = try type == kSecAttrKeyTypeRSA ? Self.rsa.get() : Self.curve.get()
                    let publicKey = try #require(SecKeyCopyPublicKey(key))
                    let fits = (algorithm.rawValue.contains(":RSA")) == (type == kSecAttrKeyTypeRSA)
                    for operation in all {
                        let isPublic = operation == .verify || operation == .encrypt
                        let expected = fits && operations.contains(operation)
                        #expect(SecKeyIsAlgorithmSupported(key, operation, algorithm) == (expected && !isPublic))
                        #expect(SecKeyIsAlgorithmSupported(publicKey, operation, algorithm) == (expected && isPublic))
                    }
                }
            }
        }
        #expect(SecKeyIsAlgorithmSupported(try Self.rsa.get(), .sign, SecKeyAlgorithm(rawValue: "x")) == false)
    }

    @Test("The padding must fit into the modulus")
    func isAlgorithmSupported_smallKey_isFalse() throws {
        let kind: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
        let bytes = try Sample.data("rsa512-private.der") as CFData
        let key = try #require(SecKeyCreateWithData(bytes, kind as CFDictionary, nil))
        #expect(SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePKCS1v15SHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePKCS1v15SHA512))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePSSSHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .decrypt, .rsaEncryptionOAEPSHA256))
    }

    @Test
    func createSignature_unsuitableAlgorithm_isAParameterError() throws {
        let key = try Self.curve.get()
        for algorithm in [.rsaSignatureMessagePSSSHA256, .rsaEncryptionPKCS1, SecKeyAlgorithm(rawValue: "nonsense")] {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateSignature(key, algorithm, data("x") as CFData, &error) == nil)
            let description = error?.takeUnretainedValue().userInfo["NSDescription"] as? String
            #expect(description?.hasPrefix("\(algorithm.rawValue): algorithm not supported by the key") == true)
            expect(error, errSecParam)
        }
    }

    @Test("Raw RSA takes numbers less than the modulus, and verifies what it signed")
    func raw_numbers_areBounded() throws {
        let key = try Self.rsa.get()
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let small = data("\u{1}small") as CFData
        let signature = try #require(SecKeyCreateSignature(key, .rsaSignatureRaw, small, nil))
        #expect(SecKeyVerifySignature(publicKey, .rsaSignatureRaw, small, signature, nil))
        let ciphertext = try #require(SecKeyCreateEncryptedData(publicKey, .rsaEncryptionRaw, small, nil))
        let block = try #require(SecKeyCreateDecryptedData(key, .rsaEncryptionRaw, ciphertext, nil) as Data?)
        #expect(block.count == 256 && block.suffix(6) == small as Data && block.first == 0)
        for wrong in [Data(repeating: 0xff, count: 256), Data(repeating: 1, count: 257)] {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateSignature(key, .rsaSignatureRaw, wrong as CFData, &error) == nil)
            expect(error, errSecParam)
            #expect(SecKeyCreateEncryptedData(publicKey, .rsaEncryptionRaw, wrong as CFData, &error) == nil)
            expect(error, errSecParam)
            #expect(SecKeyCreateDecryptedData(key, .rsaEncryptionRaw, wrong as CFData, &error) == nil)
            expect(error, errSecParam)
        }
    }

    // MARK: Support

    private static let rsa = Result { try make(kSecAttrKeyTypeRSA, 2048) }
    private static let curve = Result { try make(kSecAttrKeyTypeECDSA, 384) }

    private static func make(_ type: CFString, _ bits: Int) throws -> SecKey {
        let parameters: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
        return try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
    }

    private static func key(_ algorithm: SecKeyAlgorithm) throws -> SecKey {
        try algorithm.rawValue.contains(":RSA") ? rsa.get() : curve.get()
    }

    private func expectSignatures(of data: Data, of other: Data, _ algorithm: SecKeyAlgorithm) throws {
        let key = try Self.key(algorithm)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let signature = try #require(SecKeyCreateSignature(key, algorithm, data as CFData, nil) as Data?)
        #expect(SecKeyVerifySignature(publicKey, algorithm, data as CFData, signature as CFData, nil))
        var flipped = signature
        flipped[signature.count / 2] ^= 1
        for (data, signature) in [
            (other, signature), (data, flipped), (data, signature.dropLast()), (data, signature + [0]), (data, Data()),
        ] {
            var error: Unmanaged<CFError>?
            #expect(!SecKeyVerifySignature(publicKey, algorithm, data as CFData, signature as CFData, &error))
            expect(error, errSecVerifyFailed)
        }
        var error: Unmanaged<CFError>?
        #expect(!SecKeyVerifySignature(key, algorithm, data as CFData, signature as CFData, &error))
        expect(error, errSecParam)
        #expect(SecKeyCreateSignature(publicKey, algorithm, data as CFData, &error) == nil)
        expect(error, errSecParam)
    }

    private func expect(
        _ error: Unmanaged<CFError>?,
        _ status: OSStatus,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = error?.takeRetainedValue()
        #expect(error?.domain == NSOSStatusErrorDomain, sourceLocation: sourceLocation)
        #expect(error?.code == Int(status), sourceLocation: sourceLocation)
    }
}
