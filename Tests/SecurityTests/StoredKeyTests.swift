import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Private keys in the keychain: keychaind uses them, and gives only those away that are extractable.
struct StoredKeyTests {
    static let message = data("a message")

    // MARK: Generated keys

    @Test(
        "A permanent key is used in the keychain and cannot be exported",
        arguments: [
            (kSecAttrKeyTypeECSECPrimeRandom as String, 256, SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256),
            (kSecAttrKeyTypeECSECPrimeRandom as String, 521, .ecdsaSignatureDigestX962),
            (kSecAttrKeyTypeRSA as String, 2048, .rsaSignatureMessagePSSSHA256),
        ]
    )
    func createRandomKey_permanent_staysInTheKeychain(
        type: String,
        bits: Int,
        algorithm: SecKeyAlgorithm
    ) async throws {
        try await Keychain.with { keychain in
            let key = try keychain.generateKey(type, bits)
            try expectSignature(by: key, algorithm)
            var error: Unmanaged<CFError>?
            #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
            expect(error, errSecUnimplemented)
            let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
            #expect(attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPrivate as String)
            #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == bits)
            #expect(attributes[kSecAttrApplicationTag as String] as? Data == data(keychain.name))
            #expect(attributes[kSecAttrIsPermanent as String] as? Bool == true)
            #expect(attributes[kSecAttrIsExtractable as String] as? Bool == false)
            #expect(attributes[kSecValueData as String] == nil)
            #expect(SecKeyGetBlockSize(key) == (bits + 7) / 8)
            let found = try #require(keychain.find(keychain.keys, [kSecReturnRef: true], as: SecKey.self))
            #expect(found == key && found.hashValue == key.hashValue)
            try expectSignature(by: found, algorithm)
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(keychain.keys.with(kSecReturnData, true), &result) == errSecUnimplemented)
            #expect(result == nil)
            let all: [CFString: Any] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]
            let listed = keychain.find(
                keychain.keys.merging(all) { $1 },
                [kSecReturnData: true],
                as: [[String: Any]].self
            )
            #expect(listed?.count == 1 && listed?.first?[kSecValueData as String] == nil)
            // The key is there already, and a reference is no copy.
            #expect(SecItemAdd([kSecValueRef: key] as [CFString: Any] as CFDictionary, nil) == errSecDuplicateItem)
            let change = [kSecAttrIsExtractable: true] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(keychain.keys as CFDictionary, change) == errSecParam)
            #expect(SecItemDelete([kSecValueRef: found] as [CFString: Any] as CFDictionary) == errSecSuccess)
            #expect(SecKeyCreateSignature(key, algorithm, Self.message as CFData, &error) == nil)
            expect(error, errSecItemNotFound)
        }
    }

    @Test("openssl verifies a signature of the keychain")
    func createSignature_isThatOfOpenSSL() async throws {
        try await Keychain.with { keychain in
            let key = try keychain.generateKey()
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let point = try #require(SecKeyCopyExternalRepresentation(publicKey, nil) as Data?)
            let signature = try #require(
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, nil) as Data?
            )
            // SubjectPublicKeyInfo of P-256 (RFC 5480), up to the point.
            let prefix: [UInt8] = [
                0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
                0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
            ]
            let folder = try TemporaryFolder()
            for (name, bytes) in [
                ("key", Data(prefix) + point), ("signature", signature), ("message", Self.message),
            ] {
                try bytes.write(to: URL(fileURLWithPath: folder.path(name)))
            }
            let result = try await Command.run(
                "openssl",
                [
                    "dgst", "-sha256", "-keyform", "DER", "-verify", folder.path("key"), "-signature",
                    folder.path("signature"), folder.path("message"),
                ]
            )
            #expect(result.succeeded && result.text.contains("Verified OK"), "\(result.text) \(result.errors)")
        }
    }

    @Test("An extractable key can be exported, and is used in the keychain all the same")
    func createRandomKey_extractable_isExported() async throws {
        try await Keychain.with { keychain in
            let key = try keychain.generateKey(more: [kSecAttrIsExtractable: true])
            let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil) as Data?)
            #expect(keychain.find(keychain.keys, [kSecReturnData: true], as: Data.self) == bytes)
            let kind = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
            let copy = try #require(SecKeyCreateWithData(bytes as CFData, kind as [CFString: Any] as CFDictionary, nil))
            #expect(copy == key && copy.hashValue == key.hashValue)
            try expectSignature(by: key, .ecdsaSignatureMessageX962SHA256)
            // Stored again under another tag.
            let other = [kSecValueRef: key, kSecAttrApplicationTag: data("other " + keychain.name)] as [CFString: Any]
            #expect(SecItemAdd(other as CFDictionary, nil) == errSecSuccess)
        }
    }

    @Test("With another provider a permanent key is an ordinary secret, and cannot be only used")
    func createRandomKey_otherProvider_isStored() async throws {
        try await Keychain.with(.gnomeKeyring) { keychain in
            let key = try keychain.generateKey()
            try expectSignature(by: key, .ecdsaSignatureMessageX962SHA256)
            let found = try #require(keychain.find(keychain.keys, [kSecReturnRef: true], as: SecKey.self))
            #expect(found == key)
            try expectSignature(by: found, .ecdsaSignatureMessageX962SHA256)
            let public1 = try #require(SecKeyCopyPublicKey(found))
            let ciphertext = try #require(
                SecKeyCreateEncryptedData(
                    public1,
                    .eciesEncryptionStandardX963SHA256AESGCM,
                    Self.message as CFData,
                    nil
                )
            )
            #expect(
                SecKeyCreateDecryptedData(found, .eciesEncryptionStandardX963SHA256AESGCM, ciphertext, nil) as Data?
                    == Self.message
            )
            var error: Unmanaged<CFError>?
            let parameters = keychain.parameters(more: [kSecAttrIsExtractable: false, kSecAttrApplicationTag: "2"])
            #expect(SecKeyCreateRandomKey(parameters, &error) == nil)
            expect(error, errSecUnimplemented)
            let only =
                [kSecValueRef: try Sample.key("ec256-private.bin"), kSecAttrIsExtractable: false]
                as [CFString: Any]
            #expect(SecItemAdd(only as CFDictionary, nil) == errSecUnimplemented)
        }
    }

    @Test("A public key of the pair is stored as an ordinary item")
    func createRandomKey_permanentPair_storesBoth() async throws {
        try await Keychain.with { keychain in
            let permanent: [CFString: Any] = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: data(keychain.name)]
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256, kSecAttrIsExtractable: false,
                kSecPrivateKeyAttrs: permanent, kSecPublicKeyAttrs: permanent,
            ]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let stored = keychain.keys.merging([kSecAttrKeyClass: kSecAttrKeyClassPublic]) { $1 }
            let found = try #require(keychain.find(stored, [kSecReturnRef: true], as: SecKey.self))
            #expect(found == SecKeyCopyPublicKey(key))
            #expect(SecKeyCopyExternalRepresentation(found, nil) != nil)
        }
    }

    // MARK: Added keys

    @Test("An added key is only used if the program says so", arguments: ["ec384-private.bin", "rsa-private.der"])
    func add_notExtractable_isOnlyUsed(name: String) async throws {
        try await Keychain.with { keychain in
            let key = try Sample.key(name)
            let algorithm: SecKeyAlgorithm =
                name.hasPrefix("ec") ? .ecdsaSignatureMessageRFC4754SHA384 : .rsaSignatureMessagePKCS1v15SHA512
            let item = keychain.keys.merging([kSecValueRef: key, kSecAttrIsExtractable: false]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let found = try #require(keychain.find(keychain.keys, [kSecReturnRef: true], as: SecKey.self))
            #expect(found == key)
            try expectSignature(by: found, algorithm)
            #expect(SecKeyCopyExternalRepresentation(found, nil) == nil)
            let client = try await keychain.provider.makeOwnClient()
            let tag = data(keychain.name).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let stored = try #require(try await client.search(["application-tag": tag]).all.first)
            await #expect(throws: SecretServiceError(.accessDenied, "")) { _ = try await stored.secret() }
        }
    }

    @Test("A symmetric key, which cannot be used, can be read only")
    func add_symmetricNotExtractable_isRefused() async throws {
        try await Keychain.with { keychain in
            let item = keychain.keys.merging([
                kSecAttrKeyType: kSecAttrKeyTypeAES, kSecAttrKeyClass: kSecAttrKeyClassSymmetric,
                kSecValueData: data("0123456789abcdef"), kSecAttrIsExtractable: false,
            ]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecParam)
        }
    }

    @Test("A key that an earlier version stored, without its public key, is used")
    func copyMatching_keyOfAnEarlierVersion_isUsed() async throws {
        try await Keychain.with { keychain in
            let key = try Sample.key("ec256-private.bin")
            let item = keychain.keys.merging([kSecValueRef: key]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let client = try await keychain.provider.makeOwnClient()
            let tag = data(keychain.name).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let stored = try #require(try await client.search(["application-tag": tag]).all.first)
            var attributes = try await stored.attributes()
            attributes["keychain:public-key"] = nil
            attributes["keychain:extractable"] = nil
            try await stored.setAttributes(attributes)
            let found = try #require(keychain.find(keychain.keys, [kSecReturnRef: true], as: SecKey.self))
            #expect(found == key)
            try expectSignature(by: found, .ecdsaSignatureMessageX962SHA256)
        }
    }

    // MARK: Operations

    @Test("A key in the keychain decrypts and agrees, and one error answers every damaged ciphertext")
    func storedKey_decryptsAndAgrees() async throws {
        try await Keychain.with { keychain in
            let key = try keychain.generateKey()
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let ecies = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let ciphertext = try #require(
                SecKeyCreateEncryptedData(publicKey, ecies, Self.message as CFData, nil) as Data?
            )
            #expect(SecKeyCreateDecryptedData(key, ecies, ciphertext as CFData, nil) as Data? == Self.message)
            var damaged = ciphertext
            damaged[damaged.count - 1] ^= 1
            let local = try Sample.key("ec256-private.bin")
            for wrong in [damaged, ciphertext.dropLast(), Data()] {
                var errors: [Unmanaged<CFError>?] = [nil, nil]
                #expect(SecKeyCreateDecryptedData(key, ecies, wrong as CFData, &errors[0]) == nil)
                #expect(SecKeyCreateDecryptedData(local, ecies, wrong as CFData, &errors[1]) == nil)
                // As with a key in the process.
                let codes = errors.map { $0?.takeRetainedValue().code }
                #expect(codes[0] != nil && codes[0] == codes[1])
            }
            let peer = try #require(SecKeyCopyPublicKey(local))
            let none = [:] as CFDictionary
            let secret = SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, peer, none, nil) as Data?
            #expect(secret?.count == 32)
            #expect(
                secret == SecKeyCopyKeyExchangeResult(local, .ecdhKeyExchangeStandard, publicKey, none, nil) as Data?
            )
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateSignature(key, .rsaSignatureMessagePSSSHA256, Self.message as CFData, &error) == nil)
            expect(error, errSecParam)
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePSSSHA256))
            #expect(SecKeyIsAlgorithmSupported(key, .sign, .ecdsaSignatureMessageX962SHA256))
        }
    }

    @Test("A message may be larger than the provider accepts")
    func createSignature_largeMessage_isMade() async throws {
        try await Keychain.with { keychain in
            let key = try keychain.generateKey()
            let message = Data(count: 17 << 20)
            let signature = try #require(
                SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, nil)
            )
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            #expect(
                SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message as CFData, signature, nil)
            )
        }
    }

    @Test("The private key of an identity is used in the keychain")
    func identity_privateKey_signs() async throws {
        try await Keychain.withOwn { keychain in
            let certificate = [kSecValueRef: try Sample.certificate("ec256")] as [CFString: Any] as CFDictionary
            #expect(SecItemAdd(certificate, nil) == errSecSuccess)
            let only =
                [kSecValueRef: try Sample.key("ec256-private.bin"), kSecAttrIsExtractable: false]
                as [CFString: Any]
            #expect(SecItemAdd(only as CFDictionary, nil) == errSecSuccess)
            let query: [CFString: Any] = [kSecClass: kSecClassIdentity]
            let identity = try #require(keychain.find(query, [kSecReturnRef: true], as: SecIdentity.self))
            var key: SecKey?
            #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
            try expectSignature(by: #require(key), .ecdsaSignatureMessageX962SHA256)
            let publicKey = try SecCertificateCopyKey(Sample.certificate("ec256"))
            #expect(publicKey == key.flatMap(SecKeyCopyPublicKey))
        }
    }

    // MARK: Helpers

    func expectSignature(by key: SecKey, _ algorithm: SecKeyAlgorithm) throws {
        // The size of a digest of any kind.
        let signed = algorithm == .ecdsaSignatureDigestX962 ? Data(repeating: 7, count: 32) : Self.message
        var error: Unmanaged<CFError>?
        let made = SecKeyCreateSignature(key, algorithm, signed as CFData, &error)
        let signature = try #require(made, "\(error?.takeRetainedValue() as Any)")
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        #expect(SecKeyVerifySignature(publicKey, algorithm, signed as CFData, signature, nil))
    }

    func expect(_ error: Unmanaged<CFError>?, _ status: OSStatus) {
        let taken = error?.takeRetainedValue()
        #expect(taken?.code == Int(status) && taken?.domain == NSOSStatusErrorDomain, "\(taken as Any)")
    }
}

extension Keychain {
    /// A query for the private key of the test.
    var keys: [CFString: Any] {
        [kSecClass: kSecClassKey, kSecAttrApplicationTag: data(name)]
    }

    func parameters(
        _ type: String = kSecAttrKeyTypeECSECPrimeRandom as String,
        _ bits: Int = 256,
        more: [CFString: Any] = [:]
    ) -> CFDictionary {
        let permanent: [CFString: Any] = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: data(name)]
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits, kSecPrivateKeyAttrs: permanent.merging(more) { $1 },
        ]
        return parameters as CFDictionary
    }

    /// Generates a permanent key with the tag of the test.
    func generateKey(
        _ type: String = kSecAttrKeyTypeECSECPrimeRandom as String,
        _ bits: Int = 256,
        more: [CFString: Any] = [:]
    ) throws -> SecKey {
        var error: Unmanaged<CFError>?
        let key = SecKeyCreateRandomKey(parameters(type, bits, more: more), &error)
        return try #require(key, "\(error?.takeRetainedValue() as Any)")
    }
}
