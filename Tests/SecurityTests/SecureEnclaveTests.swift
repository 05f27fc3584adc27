import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Keys with `kSecAttrTokenIDSecureEnclave`, in a software TPM.
struct SecureEnclaveTests {
    /// A daemon with a TPM, and the attributes that name a key of the test.
    private func withTPM(_ body: (RunningService, SoftwareTPM, [CFString: Any]) async throws -> Void) async throws {
        let tpm = try await SoftwareTPM()
        let folder = try ConfigurationFolder("[host]\ntpm = \"\(tpm.transport)\"\n")
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            try await KeychainBus.$current.withValue(.address(service.bus.address)) {
                try await body(service, tpm, [kSecAttrApplicationTag: data("org.example.device")])
            }
        }
    }

    /// The parameters of a key, with attributes of the private key.
    private func parameters(_ attributes: [CFString: Any], _ more: [CFString: Any] = [:]) -> CFDictionary {
        let common: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: attributes.merging([kSecAttrIsPermanent: true]) { own, _ in own },
        ]
        return common.merging(more) { $1 } as CFDictionary
    }

    private func makeKey(_ parameters: CFDictionary) throws -> SecKey {
        var error: Unmanaged<CFError>?
        let key = SecKeyCreateRandomKey(parameters, &error)
        return try #require(key, "\(String(describing: error?.takeRetainedValue()))")
    }

    /// The result code of a failed call.
    private func code<Result>(_ call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Result?) -> OSStatus {
        var error: Unmanaged<CFError>?
        guard call(&error) == nil else { return errSecSuccess }
        let failure = error?.takeRetainedValue()
        #expect(failure?.domain == NSOSStatusErrorDomain)
        return failure.map { OSStatus($0.code) } ?? errSecSuccess
    }

    private func sign(_ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>? = nil) -> CFData? {
        SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, data("message") as CFData, error)
    }

    @Test("A67 A key is found by its token, signs for OpenSSL, and is not exported")
    func key_isUsed_butNotExported() async throws {
        try await withTPM { _, _, name in
            let made = try makeKey(parameters(name))
            let query = name.merging([
                kSecClass: kSecClassKey, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecReturnRef: true,
                kSecReturnAttributes: true,
            ]) { $1 }
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            let found = try #require(result as? [CFString: Any])
            #expect(found[kSecAttrTokenID] as? String == kSecAttrTokenIDSecureEnclave as String)
            let key = try #require(found[kSecValueRef] as? SecKey)
            #expect(key == made)
            let attributes = try #require(SecKeyCopyAttributes(key) as? [CFString: Any])
            #expect(attributes[kSecAttrTokenID] as? String == kSecAttrTokenIDSecureEnclave as String)
            #expect(attributes[kSecAttrIsExtractable] as? Bool == false && attributes[kSecValueData] == nil)
            #expect(code { SecKeyCopyExternalRepresentation(key, $0) } == errSecUnimplemented)

            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let point = try #require(SecKeyCopyExternalRepresentation(publicKey, nil)) as Data
            let signature = try #require(sign(key)) as Data
            let isValid = SecKeyVerifySignature(
                publicKey,
                .ecdsaSignatureMessageX962SHA256,
                data("message") as CFData,
                signature as CFData,
                nil
            )
            #expect(isValid)
            let folder = try TemporaryFolder()
            // The header of a P-256 SubjectPublicKeyInfo (RFC 5480).
            let header = Data(base64Encoded: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgA=")
            try (#require(header) + point).write(to: URL(fileURLWithPath: folder.path("public.der")))
            try signature.write(to: URL(fileURLWithPath: folder.path("signature")))
            let openssl = try await Command.run(
                "openssl",
                [
                    "dgst", "-sha256", "-keyform", "DER", "-verify", folder.path("public.der"), "-signature",
                    folder.path("signature"),
                ],
                input: Array("message".utf8)
            )
            #expect(openssl.succeeded && openssl.text == "Verified OK\n", "\(openssl.errors)")
        }
    }

    @Test("a key decrypts and agrees")
    func key_decryptsAndAgrees() async throws {
        try await withTPM { _, _, name in
            let key = try makeKey(parameters(name))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let ecies = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let ciphertext = SecKeyCreateEncryptedData(publicKey, ecies, data("text") as CFData, nil)
            let plaintext = SecKeyCreateDecryptedData(key, ecies, try #require(ciphertext), nil)
            #expect(plaintext as Data? == data("text"))
            let other: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            ]
            let peer = try #require(SecKeyCreateRandomKey(other as CFDictionary, nil))
            let secrets = try [(key, peer), (peer, key)].map { own, other in
                let theirs = try #require(SecKeyCopyPublicKey(other))
                return SecKeyCopyKeyExchangeResult(own, .ecdhKeyExchangeStandard, theirs, [:] as CFDictionary, nil)
            }
            #expect(secrets[0] != nil && secrets[0] as Data? == secrets[1] as Data?)
        }
    }

    @Test("A67 What cannot be in a Secure Enclave is refused, and leaves nothing behind")
    func createRandomKey_unsuitable_isRefused() async throws {
        try await withTPM { _, _, name in
            for (attributes, more, status) in [
                ([:], [kSecAttrKeySizeInBits: 384], errSecUnimplemented),
                ([:], [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048], errSecUnimplemented),
                ([kSecAttrIsPermanent: false], [:], errSecUnimplemented),
                ([:], [kSecAttrTokenID: "com.example.card"], errSecUnimplemented),
                ([kSecAttrIsExtractable: true], [:], errSecParam),
            ] as [([CFString: Any], [CFString: Any], OSStatus)] {
                let parameters = parameters(name.merging(attributes) { $1 }, more)
                #expect(code { SecKeyCreateRandomKey(parameters, $0) } == status, "\(attributes) \(more)")
            }
            let query = name.merging([kSecClass: kSecClassKey]) { $1 }
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
        }
    }

    @Test("A67 No key moves into a Secure Enclave")
    func existingKey_doesNotMove() async throws {
        try await withTPM { _, _, name in
            let key = try Sample.key("ec256-private.bin")
            let bytes = try Sample.data("ec256-private.bin")
            let enclave: [CFString: Any] = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
            let item = name.merging([kSecClass: kSecClassKey, kSecValueRef: key]) { $1 }
            #expect(SecItemAdd(item.merging(enclave) { $1 } as CFDictionary, nil) == errSecParam)
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let query = name.merging([kSecClass: kSecClassKey]) { $1 } as CFDictionary
            #expect(SecItemUpdate(query, enclave as CFDictionary) == errSecParam)
            let attributes = enclave.merging([
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            ]) { $1 }
            #expect(
                code { SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, $0) } == errSecUnimplemented
            )
        }
    }

    @Test("without a TPM no key is made; a TPM that is gone or was cleared is an error of its own")
    func missingOrOtherTPM_isAnError() async throws {
        try await withTPM { _, tpm, name in
            let key = try makeKey(parameters(name))
            try await tpm.reset()
            #expect(code { sign(key, $0) } == errSecInvalidKeyBlob)
            try await tpm.remove()
            #expect(code { sign(key, $0) } == errSecNotAvailable)
            let another = parameters([kSecAttrApplicationTag: data("another")])
            #expect(code { SecKeyCreateRandomKey(another, $0) } == errSecUnimplemented)
            let query = name.merging([kSecClass: kSecClassKey]) { $1 } as CFDictionary
            #expect(SecItemDelete(query) == errSecSuccess)
            #expect(code { sign(key, $0) } == errSecItemNotFound)
        }
    }

    @Test("another provider has no Secure Enclave")
    func createRandomKey_anotherProvider_isUnimplemented() async throws {
        try await Keychain.with(.gnomeKeyring) { keychain in
            let parameters = parameters([kSecAttrApplicationTag: data(keychain.name)])
            #expect(code { SecKeyCreateRandomKey(parameters, $0) } == errSecUnimplemented)
        }
    }

    @Test("an access control has a person asked when the key is used, not when it is made or found")
    func protectedKey_asksAtUse() async throws {
        try await withTPM { service, _, name in
            let access = SecAccessControlCreateWithFlags(
                nil,
                kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                [.privateKeyUsage, .devicePasscode],
                nil
            )
            let prompter = try await FakePrompter(on: service.bus, [.answer("password"), .answer("password")])
            let made = try makeKey(parameters(name.merging([kSecAttrAccessControl: access as Any]) { $1 }))
            let query = name.merging([kSecClass: kSecClassKey, kSecReturnRef: true]) { $1 }
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            #expect(result as? SecKey == made)
            #expect(prompter.questions.all.isEmpty)
            #expect(sign(made) != nil)
            #expect(prompter.questions.all.count == 1)
        }
    }
}
