import Foundation
import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient
import Testing

struct RightTests {
    @Test("A person authorises a right, and the program revokes it")
    func right_isAuthorised_andGivenBack() async throws {
        try await Machine.with([.answer("password"), .cancel]) { machine in
            let right = LARight()
            right.tag = 7
            #expect(right.state == .unknown && right.tag == 7)
            try await right.checkCanAuthorize()
            try await right.authorize(localizedReason: "to open the door")
            #expect(right.state == .authorized)
            #expect(machine.question?.text("description")?.contains("to open the door") == true)
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
            await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "again") }
            #expect(right.state == .notAuthorized)
        }
    }

    @Test("A right that needs a finger cannot be authorised without a reader")
    func right_biometryWithoutReader_cannotBeAuthorised() async throws {
        try await Machine.with { _ in
            for requirement in [LAAuthenticationRequirement.biometry, .biometryCurrentSet] {
                let right = LARight(requirement: requirement)
                do {
                    try await right.checkCanAuthorize()
                    Issue.record("it could")
                } catch let error as LAError {
                    #expect(error.code == .biometryNotAvailable)
                }
            }
            try await LARight(requirement: .biometry(fallback: .devicePasscode)).checkCanAuthorize()
        }
    }

    @Test("A72 The secret of a stored right can be read only while the right is authorised")
    func savedRight_givesItsSecret() async throws {
        try await Machine.with { machine in
            let store = LARightStore.shared
            let secret = Data("1234".utf8)
            try await store.saveRight(LARight(), identifier: machine.name, secret: secret)
            let right = try await store.right(forIdentifier: machine.name)
            #expect(await Self.code { _ = try await right.secret.rawData } == LAError.notInteractive.rawValue)
            #expect(machine.questionCount == 0)
            try await right.authorize(localizedReason: "to see it")
            #expect(try await right.secret.rawData == secret)
            #expect(await Self.load(right.secret).data == secret)
            await right.deauthorize()
            #expect(await Self.code { _ = try await right.secret.rawData } == LAError.notInteractive.rawValue)
            #expect(await Self.load(right.secret).error == .notInteractive)
            #expect(machine.questionCount == 1)
        }
    }

    @Test("A stored right can be stored under another identifier with the same requirement")
    func savedRight_isSavedAgain() async throws {
        try await Machine.with { machine in
            let store = LARightStore.shared
            let fallback = LARight(requirement: .biometry(fallback: .devicePasscode))
            try await store.saveRight(fallback, identifier: "first")
            let first = try await store.right(forIdentifier: "first")
            try await store.saveRight(first, identifier: "second", secret: Data("1234".utf8))
            let second = try await store.right(forIdentifier: "second")
            #expect(await Self.code { _ = try await second.secret.rawData } == LAError.notInteractive.rawValue)
            try await second.authorize(localizedReason: "to see it")
            #expect(try await second.secret.rawData == Data("1234".utf8))
        }
    }

    @Test("Rights differ by identifier, and can be deleted")
    func savedRights_areToldApart_andRemoved() async throws {
        try await Machine.with { machine in
            let store = LARightStore.shared
            let first = try await store.saveRight(LARight(), identifier: "first")
            try await store.saveRight(LARight(), identifier: "second")
            #expect(
                await Self.code { try await store.saveRight(LARight(), identifier: "second") }
                    == Int(errSecDuplicateItem)
            )
            try await store.removeRight(first)
            #expect(
                await Self.code { _ = try await store.right(forIdentifier: "first") } == Int(errSecItemNotFound)
            )
            try await store.removeAllRights()
            #expect(
                await Self.code { try await store.removeRight(forIdentifier: "second") } == Int(errSecItemNotFound)
            )
            try await store.removeAllRights()
        }
    }

    @Test("A touch releases the secret of a right for the current fingers")
    func savedRight_currentSet_byTouch() async throws {
        try await Machine.withReader { machine, reader in
            let store = LARightStore.shared
            let right = try await store.saveRight(
                LARight(requirement: .biometryCurrentSet),
                identifier: "door",
                secret: Data("1234".utf8)
            )
            async let authorization: Void = right.authorize(localizedReason: "to open the door")
            try await reader.touch("owner")
            try await authorization
            #expect(try await right.secret.rawData == Data("1234".utf8))
            #expect(machine.question?.type == "confirm")
        }
    }

    /// Reads a secret with the completion handler.
    private static func load(_ secret: LASecret) async -> (data: Data?, error: LAError.Code?) {
        await withCheckedContinuation { continuation in
            secret.loadData { data, error in
                continuation.resume(returning: (data, (error as? LAError)?.code))
            }
        }
    }

    private static func code(_ operation: () async throws -> Void) async -> Int? {
        do {
            try await operation()
            return nil
        } catch let error as NSError {
            return error.code
        }
    }

    @Test("The key of a right signs while the right is authorised, and verifies always")
    func key_signsWhileAuthorised() async throws {
        try await Machine.with { machine in
            let identifier = UUID().uuidString
            let right = try await LARightStore.shared.saveRight(LARight(), identifier: identifier)
            let data = Data("message".utf8)
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            #expect(right.key.canSign(using: algorithm) && right.key.publicKey.canVerify(using: algorithm))
            #expect(!right.key.canSign(using: .rsaSignatureMessagePSSSHA256))
            await #expect(throws: LAError(.notInteractive)) { try await right.key.sign(data, algorithm: algorithm) }
            let publicBytes = try await right.key.publicKey.bytes
            #expect(publicBytes.count == 65 && machine.questionCount == 0)
            try await right.authorize(localizedReason: "to sign")
            let signature = try await right.key.sign(data, algorithm: algorithm)
            try await right.key.publicKey.verify(data, signature: signature, algorithm: algorithm)
            await #expect(throws: (any Error).self) {
                try await right.key.publicKey.verify(data + [1], signature: signature, algorithm: algorithm)
            }
            let encryption = SecKeyAlgorithm.eciesEncryptionCofactorX963SHA256AESGCM
            let ciphertext = try await right.key.publicKey.encrypt(data, algorithm: encryption)
            #expect(try await right.key.decrypt(ciphertext, algorithm: encryption) == data)
            // One authentication serves all of it, and another object of the right has the same key.
            #expect(machine.questionCount == 1)
            let again = try await LARightStore.shared.right(forIdentifier: identifier)
            #expect(try await again.key.publicKey.bytes == publicBytes)
            await right.deauthorize()
            await #expect(throws: LAError(.notInteractive)) { try await right.key.sign(data, algorithm: algorithm) }
            try await LARightStore.shared.removeRight(again)
            await #expect(throws: (any Error).self) { try await LARightStore.shared.right(forIdentifier: identifier) }
        }
    }

    @Test("Threads that use a key for the first time at once make one pair")
    func key_firstUsesAtOnce_makeOnePair() async throws {
        try await Machine.with { _ in
            let identifier = UUID().uuidString
            let right = try await LARightStore.shared.saveRight(LARight(), identifier: identifier)
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<16 { group.addTask { try await right.key.publicKey.bytes } }
                for try await bytes in group { #expect(bytes.count == 65) }
            }
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            #expect((result as? [Data])?.count == 2)
        }
    }

    @Test("Of two programs that use a key for the first time at once, one makes it, and both use that")
    func key_firstUsesByTwoPrograms_makeOneKey() async throws {
        try await Machine.with { machine in
            // A connection of its own, as of another program: there is one for each address.
            let address = machine.service.bus.address
            let other = SecretBus.address("\(address);\(address)")
            for count in 1...20 {
                let identifier = UUID().uuidString
                let right = try await LARightStore.shared.saveRight(LARight(), identifier: identifier)
                async let attempt = KeychainBus.$current.withValue(other) {
                    await machine.elsewhere { RightTests.makeKey(of: identifier) }
                }
                let bytes = try await right.key.publicKey.bytes
                let (made, status) = await attempt
                #expect(made == bytes || made == nil && status == Int(errSecDuplicateItem), "\(status)")
                #expect(try await right.key.publicKey.bytes == bytes)
                #expect(try RightTests.privateKeys() == count)
            }
            #expect(machine.questionCount == 0)
        }
    }

    /// Makes the private key of a right, as another program of the same name does; returns its public key, or a status.
    private static func makeKey(of identifier: String) -> (publicKey: Data?, status: Int) {
        let service = "org.keychaind.LARightStore." + ProcessInfo.processInfo.processName
        let tag = Data((service + "." + identifier).utf8)
        let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        guard let control = SecAccessControlCreateWithFlags(nil, protection, .userPresence, nil) else {
            return (nil, Int(errSecParam))
        }
        let key: [CFString: Any] = [
            kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrApplicationLabel: tag,
            kSecAttrLabel: service, kSecAttrAccessControl: control,
        ]
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecPrivateKeyAttrs: key,
        ]
        var failure: Unmanaged<CFError>?
        guard let made = SecKeyCreateRandomKey(parameters as CFDictionary, &failure),
            let publicKey = SecKeyCopyPublicKey(made)
        else { return (nil, failure?.takeRetainedValue().code ?? 0) }
        return (SecKeyCopyExternalRepresentation(publicKey, nil) as Data?, 0)
    }

    /// The number of private keys in the keychain.
    private static func privateKeys() throws -> Int {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecMatchLimit: kSecMatchLimitAll,
            kSecReturnPersistentRef: true,
        ]
        var result: CFTypeRef?
        try #require(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        return try #require(result as? [Data]).count
    }

    @Test("Two rights agree on a secret, and an invalid public key is refused")
    func key_agrees() async throws {
        try await Machine.with { _ in
            let (anna, ben) = (UUID().uuidString, UUID().uuidString)
            let rights = [
                try await LARightStore.shared.saveRight(LARight(), identifier: anna),
                try await LARightStore.shared.saveRight(LARight(), identifier: ben),
            ]
            for right in rights { try await right.authorize(localizedReason: "to agree") }
            let algorithm = SecKeyAlgorithm.ecdhKeyExchangeStandard
            #expect(rights[0].key.canExchangeKeys(using: algorithm))
            var secrets: [Data] = []
            for (right, other) in [(rights[0], rights[1]), (rights[1], rights[0])] {
                let publicKey = try await other.key.publicKey.bytes
                let key = right.key
                secrets.append(try await key.exchangeKeys(publicKey: publicKey, algorithm: algorithm, parameters: [:]))
            }
            #expect(secrets[0] == secrets[1] && secrets[0].count == 32)
            await #expect(throws: (any Error).self) {
                let bad = Data(repeating: 4, count: 65)
                _ = try await rights[0].key.exchangeKeys(publicKey: bad, algorithm: algorithm, parameters: [:])
            }
        }
    }
}
