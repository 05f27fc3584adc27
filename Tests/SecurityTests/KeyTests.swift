import Foundation
import Security
import Testing

@Suite(.lockedPool)
struct KeyTests {
    @Test(arguments: Sample.keys)
    func createWithData_externalForm_isKept(sample: Sample.Key) throws {
        let key = try sample.make()
        #expect(try SecKeyCopyExternalRepresentation(key, nil) as Data? == Sample.data(sample.description))
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes[kSecAttrKeyType as String] as? String == sample.type)
        #expect(attributes[kSecAttrKeyClass as String] as? String == sample.keyClass)
        #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == sample.bits)
        #expect((attributes[kSecAttrApplicationLabel as String] as? Data)?.count == 20)
        #expect(SecKeyGetBlockSize(key) == (sample.bits + 7) / 8)
        #expect(try key == sample.make())
        #expect(!"\(key)".isEmpty)
    }

    @Test(arguments: Sample.keys)
    func copyPublicKey_ofEither_isThePublicKey(sample: Sample.Key) throws {
        let publicKey = try #require(SecKeyCopyPublicKey(try sample.make()))
        #expect(try SecKeyCopyExternalRepresentation(publicKey, nil) as Data? == Sample.data(sample.publicKey))
    }

    @Test(arguments: Sample.keys)
    func createWithData_anotherKind_isRefused(sample: Sample.Key) throws {
        let bytes = try Sample.data(sample.description)
        for other in Sample.keys where other.type != sample.type || other.keyClass != sample.keyClass {
            expectError(errSecDecode, bytes, other.attributes)
        }
        expectError(errSecParam, bytes, [:] as CFDictionary)
        expectError(errSecParam, bytes, [kSecAttrKeyType: sample.type] as [CFString: Any] as CFDictionary)
    }

    @Test("Another size than the key's and a requested reference are ignored, as programs give them")
    func createWithData_sizeAndReturnKeys_areIgnored() throws {
        let sample = try #require(Sample.keys.first { $0.type == kSecAttrKeyTypeRSA as String })
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: sample.type, kSecAttrKeyClass: sample.keyClass, kSecAttrKeySizeInBits: 512,
            kSecReturnPersistentRef: true,
        ]
        let bytes = try Sample.data(sample.description)
        let key = try #require(SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, nil))
        #expect(try key == sample.make())
        let found = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(found[kSecAttrKeySizeInBits as String] as? Int == sample.bits)
    }

    @Test("A public key of RSA may be in the form of certificates, as servers give it; its own form is PKCS #1")
    func createWithData_subjectPublicKeyInfo_isRead() throws {
        let bytes = try Sample.data("rsa-public.der")
        try #require(bytes.count == 270)
        let header: [UInt8] = [
            0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05,
            0x00, 0x03, 0x82, 0x01, 0x0f, 0x00,
        ]
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        let wrapped = Data(header) + bytes
        let key = try #require(SecKeyCreateWithData(wrapped as CFData, attributes as CFDictionary, nil))
        #expect(SecKeyCopyExternalRepresentation(key, nil) as Data? == bytes)
        expectError(errSecDecode, wrapped.dropLast(), attributes as CFDictionary)
        expectError(errSecDecode, wrapped + [0], attributes as CFDictionary)
        var unknown = wrapped
        // Another algorithm.
        unknown[16] = 7
        expectError(errSecDecode, unknown, attributes as CFDictionary)
    }

    @Test("Truncated, changed or too long keys are errors and never crash", arguments: Sample.keys)
    func createWithData_damaged_isRefused(sample: Sample.Key) throws {
        let bytes = try Sample.data(sample.description)
        for count in 0..<bytes.count { expectError(errSecDecode, bytes.prefix(count), sample.attributes) }
        expectError(errSecDecode, bytes + [0], sample.attributes)
        // Any number is a valid RSA modulus, so some changes of a public key are not detected.
        let isChecked =
            sample.type != kSecAttrKeyTypeRSA as String || sample.keyClass == kSecAttrKeyClassPrivate as String
        for index in stride(from: 0, to: bytes.count, by: 7) {
            var changed = bytes
            changed[index] ^= 0x41
            if isChecked {
                expectError(errSecDecode, changed, sample.attributes)
            } else {
                _ = SecKeyCreateWithData(changed as CFData, sample.attributes, nil)
            }
        }
    }

    @Test
    func createWithData_symmetric_isBytes() throws {
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeAES, kSecAttrKeyClass: kSecAttrKeyClassSymmetric,
        ]
        let key = try #require(
            SecKeyCreateWithData(data("0123456789abcdef") as CFData, attributes as CFDictionary, nil)
        )
        #expect(SecKeyCopyExternalRepresentation(key, nil) as Data? == data("0123456789abcdef"))
        #expect(SecKeyCopyPublicKey(key) == nil)
        expectError(errSecDecode, Data(), attributes as CFDictionary)
    }

    @Test
    func createWithData_unsupported_saysSo() {
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeDSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        ]
        expectError(errSecUnimplemented, data("x"), attributes as CFDictionary)
        let unknown: [CFString: Any] = [kSecAttrKeyType: "7", kSecAttrKeyClass: kSecAttrKeyClassPrivate]
        expectError(errSecParam, data("x"), unknown as CFDictionary)
    }

    @Test(arguments: [("42", 2048), ("73", 256), ("73", 384), ("73", 521)])
    func createRandomKey_isAKeyOfThatSize(type: String, bits: Int) throws {
        let parameters: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
        let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == bits)
        #expect(attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPrivate as String)
        let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil))
        let again: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
        #expect(SecKeyCreateWithData(bytes, again as CFDictionary, nil) == key)
    }

    @Test(
        "Unsupported sizes and tokens are refused",
        arguments: [
            (["type": "42", "bsiz": 1024], errSecUnimplemented), (["type": "73", "bsiz": 192], errSecUnimplemented),
            (["type": "73", "bsiz": 256, "tkid": "com.apple.setoken"], errSecUnimplemented),
            (["type": "2147483649", "bsiz": 256], errSecUnimplemented), (["type": "73"], errSecParam),
            (["bsiz": 256], errSecParam), (["type": "73", "bsiz": "x"], errSecParam),
            (["type": "73", "bsiz": 256, "private": 7], errSecParam),
            (["type": "73", "bsiz": 256, "nonsense": 7], errSecParam),
        ] as [([String: any Sendable], OSStatus)]
    )
    func createRandomKey_bad_isRefused(parameters: [String: any Sendable], status: OSStatus) {
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(status))
    }

    @Test("Usages by SecKey.h, and the attributes of the creation")
    func copyAttributes_generatedKey_hasUsagesAndOwnAttributes() throws {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrLabel: "common",
            kSecPrivateKeyAttrs: [
                kSecAttrApplicationTag: data("tag"), kSecAttrCanDerive: false,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
            ] as [CFString: Any],
            kSecPublicKeyAttrs: [kSecAttrLabel: "public"] as [CFString: Any],
        ]
        var publicKey: SecKey?
        var privateKey: SecKey?
        #expect(SecKeyGeneratePair(parameters as CFDictionary, &publicKey, &privateKey) == errSecSuccess)
        let (made, madePublic) = (try #require(privateKey), try #require(publicKey))
        let attributes = try #require(SecKeyCopyAttributes(made) as? [String: Any])
        let publicAttributes = try #require(SecKeyCopyAttributes(madePublic) as? [String: Any])
        let usages: [(CFString, isOfPrivate: Bool, isOfPublic: Bool)] = [
            (kSecAttrCanSign, true, false), (kSecAttrCanDecrypt, true, false), (kSecAttrCanUnwrap, true, false),
            (kSecAttrCanVerify, false, true), (kSecAttrCanEncrypt, false, true), (kSecAttrCanWrap, false, true),
            (kSecAttrCanDerive, false, true), (kSecAttrIsExtractable, true, true), (kSecAttrIsPermanent, false, false),
        ]
        for (usage, isOfPrivate, isOfPublic) in usages {
            #expect(attributes[usage as String] as? Bool == isOfPrivate, "\(usage)")
            #expect(publicAttributes[usage as String] as? Bool == isOfPublic, "\(usage)")
        }
        #expect(attributes[kSecAttrApplicationTag as String] as? Data == data("tag"))
        #expect(attributes[kSecAttrLabel as String] as? String == "common")
        #expect(attributes[kSecAttrAccessible as String] == nil)
        #expect(publicAttributes[kSecAttrLabel as String] as? String == "public")
        let bytes = SecKeyCopyExternalRepresentation(madePublic, nil) as Data?
        #expect(publicAttributes[kSecValueData as String] as? Data == bytes)
        #expect(SecKeyCopyPublicKey(made) == madePublic)
        #expect(SecKeyGeneratePair([:] as CFDictionary, nil, nil) == errSecParam)
    }

    @Test("A63 A key that is not extractable can be used, and its bytes are in no result")
    func copyExternalRepresentation_notExtractable_isRefused() throws {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecPrivateKeyAttrs: [kSecAttrIsExtractable: false] as [CFString: Any],
        ]
        let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        var error: Unmanaged<CFError>?
        #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(errSecUnimplemented))
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes[kSecAttrIsExtractable as String] as? Bool == false)
        #expect(attributes[kSecValueData as String] == nil)
        let message = data("message") as CFData
        let signature = try #require(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, nil))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        #expect(SecKeyCopyExternalRepresentation(publicKey, nil) != nil)
        #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
    }

    private func expectError(_ status: OSStatus, _ bytes: Data, _ attributes: CFDictionary) {
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateWithData(bytes as CFData, attributes, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(status))
    }
}
