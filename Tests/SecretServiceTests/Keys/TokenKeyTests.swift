import Foundation
import KeychaindDBus
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport
import Testing

/// Keys in a TPM, made and used by `org.keychaind.Keys1` and `Key1`.
struct TokenKeyTests {
    private static let options: [String: Variant] = ["token": .string("tpm")]
    private static let ecies = "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"

    /// A daemon with a TPM.
    private func withTPM(_ body: (RunningService, SoftwareTPM, KeychainDaemon.Options) async throws -> Void)
        async throws
    {
        let tpm = try await SoftwareTPM()
        let folder = try ConfigurationFolder("[host]\ntpm = \"\(tpm.transport)\"\n")
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in try await body(service, tpm, options) }
    }

    /// Data that an algorithm signs: messages, or digests longer and shorter than the curve.
    private static func signedData(_ algorithm: KeyAlgorithm) -> [[UInt8]] {
        let sizes =
            switch algorithm {
            case .ecdsaSignature(let hash, .digest, _): [hash.size]
            case .ecdsaSignatureDigest, .ecdsaSignatureRFC4754: [1, 20, 32, 33, 64]
            default: [0, 1000]
            }
        return sizes.map { [UInt8](repeating: 0xe7, count: $0) }
    }

    private static func encrypt(
        _ text: String,
        for publicKey: KeyMaterial,
        _ algorithm: KeyAlgorithm
    ) throws -> [UInt8] {
        try Array(text.utf8).withUnsafeBytes { text in try publicKey.encrypt(text, algorithm) }
    }

    private func expectSignature(
        with item: ObjectPath,
        _ publicKey: [UInt8],
        _ client: SecretServiceProxy,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let signature = try await client.sign([1, 2, 3], with: item)
        #expect(
            try KeyKind.p256.verifies(signature, of: [1, 2, 3], by: publicKey),
            sourceLocation: location
        )
    }

    @Test("a key of the TPM is described by its attributes, never leaves, and signs also after restarts of both")
    func generateKey_signs_andStays() async throws {
        try await withTPM { service, tpm, options in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, publicKey, prompt) = try await client.generateKey("Key", options: Self.options)
            #expect(prompt == .root)
            let attributes = try await client.attributes(of: item)
            #expect(attributes["keychain:token"] == "tpm" && attributes["keychain:extractable"] == "false")
            #expect(attributes["key-type"] == "ec" && attributes["key-size"] == "256")
            #expect(try await client.searchItems(["keychain:token": "tpm"]).unlocked == [item])
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            #expect(try await client.secrets(of: [item], session: session).isEmpty)
            try await expectSignature(with: item, publicKey, client)
            try await service.daemon.restart(options)
            try await tpm.reboot()
            let later = try await service.makeClient()
            try await expectSignature(with: item, publicKey, later)
        }
    }

    @Test("every algorithm of P-256 gives what a key in memory gives; others do not fit")
    func use_eachAlgorithm_isStandard() async throws {
        try await withTPM { service, _, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, point, _) = try await client.generateKey(options: Self.options)
            let publicKey = try KeyMaterial(point, type: .ec, keyClass: .public)
            let other = try KeyMaterial(making: .ec, bits: 256)
            for algorithm in KeyAlgorithm.allCases {
                let name = algorithm.rawValue
                let isFor = { algorithm.fits($0, type: .ec, keyClass: .private, bits: 256) }
                if isFor(.sign) {
                    for data in Self.signedData(algorithm) {
                        let signature = try await client.sign(data, with: item, name)
                        let isValid = try publicKey.verify(signature, of: data, algorithm)
                        #expect(isValid, "\(name), \(data.count) bytes")
                    }
                } else if isFor(.decrypt) {
                    let ciphertext = try Self.encrypt("text", for: publicKey, algorithm)
                    let plaintext = try await client.decrypt(ciphertext, with: item, name, session: session)
                    #expect(plaintext == Array("text".utf8), "\(name)")
                } else if isFor(.agree) {
                    let secret = try await client.agree(
                        with: #require(other.publicBytes),
                        by: item,
                        name,
                        ["requestedSize": .uint32(40), "sharedInfo": .bytes(ByteArray([7]))],
                        session: session
                    )
                    let expected = try other.agree(with: point, algorithm, size: 40, sharedInfo: [7])
                    let bytes = expected.withUnsafeBytes { Array($0) }
                    #expect(bytes == secret, "\(name)")
                } else {
                    await #expect(throws: BusError.unsuitableAlgorithm, "\(name)") {
                        try await client.sign([1], with: item, name)
                    }
                }
            }
        }
    }

    @Test("bad input is an error, the same for every damaged ciphertext")
    func use_badInput_isAnError() async throws {
        try await withTPM { service, _, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, point, _) = try await client.generateKey(options: Self.options)
            let publicKey = try KeyMaterial(point, type: .ec, keyClass: .public)
            let algorithm = try #require(KeyAlgorithm(rawValue: Self.ecies))
            let ciphertext = try Self.encrypt("text", for: publicKey, algorithm)
            var damaged = [[], Array(ciphertext.dropLast()), ciphertext + [0], Array(ciphertext.prefix(65))]
            for index in [0, 1, 40, 65, ciphertext.count - 1] {
                var flipped = ciphertext
                flipped[index] ^= 1
                damaged.append(flipped)
            }
            for ciphertext in damaged {
                await #expect(throws: BusError.decryptionFailed, "\(ciphertext.count) bytes") {
                    try await client.decrypt(ciphertext, with: item, Self.ecies, session: session)
                }
            }
            for point in [[], [4], point.map { $0 ^ 1 }, Array(point.dropLast()), [0]] as [[UInt8]] {
                await #expect(throws: BusError.invalidInput) {
                    try await client.agree(with: point, by: item, "algid:keyexchange:ECDH", session: session)
                }
            }
            await #expect(throws: BusError.invalidInput) {
                try await client.sign([1], with: item, "algid:sign:ECDSA:digest-X962:SHA256")
            }
        }
    }

    @Test("other kinds of keys cannot be made in a TPM, and nothing is stored")
    func generateKey_unsupported_isAnError() async throws {
        try await withTPM { service, _, _ in
            let client = service.client
            for kind in [KeyKind.p384, .p521, .rsa2048] {
                await #expect(throws: BusError.unsupportedKey) {
                    try await client.generateKey("key", [:], kind, options: Self.options)
                }
            }
            await #expect(throws: BusError.invalidArgs) {
                try await client.generateKey(options: ["token": .string("tpm"), "extractable": .boolean(true)])
            }
            let stored = try await client.searchItems(["key-class": "private"]).unlocked
            #expect(stored.isEmpty)
        }
    }

    @Test("without a TPM the error says so, and nothing is stored")
    func generateKey_noTPM_isTokenUnavailable() async throws {
        try await withTPM { service, tpm, _ in
            let client = service.client
            try await tpm.remove()
            await #expect(throws: BusError.tokenUnavailable) { try await client.generateKey(options: Self.options) }
            let stored = try await client.searchItems(["key-class": "private"]).unlocked
            #expect(stored.isEmpty)
        }
    }

    @Test("a TPM that is removed in the middle ends each signature with an error; it signs again when it is back")
    func sign_tpmRemoved_answersEach() async throws {
        try await withTPM { service, tpm, _ in
            let client = service.client
            let (item, publicKey, _) = try await client.generateKey(options: Self.options)
            let calls = (0..<200).map { _ in Task { try await client.sign([1], with: item) } }
            _ = try await calls[0].value
            try await tpm.remove()
            for call in calls {
                do {
                    #expect(try await KeyKind.p256.verifies(call.value, of: [1], by: publicKey))
                } catch let error as BusError {
                    #expect(error == .tokenUnavailable)
                }
            }
            try await tpm.reboot()
            try await expectSignature(with: item, publicKey, client)
        }
    }

    @Test("a TPM that does not answer holds up neither other keys nor other calls")
    func sign_tpmHangs_holdsUpNothingElse() async throws {
        try await withTPM { service, tpm, _ in
            let client = service.client
            let (item, publicKey, _) = try await client.generateKey(options: Self.options)
            let (inMemory, inMemoryPublicKey, _) = try await client.generateKey()
            tpm.pause()
            let waiting = Task { try await client.sign([1], with: item) }
            let made = Task { try await client.generateKey("another", options: Self.options) }
            try await expectSignature(with: inMemory, inMemoryPublicKey, client)
            tpm.resume()
            #expect(try await KeyKind.p256.verifies(waiting.value, of: [1], by: publicKey))
            let (other, otherPublicKey, _) = try await made.value
            try await expectSignature(with: other, otherPublicKey, client)
        }
    }

    @Test("a key of another TPM is an error, and its item stays")
    func sign_anotherTPM_isForeign() async throws {
        try await withTPM { service, tpm, _ in
            let client = service.client
            let (item, _, _) = try await client.generateKey(options: Self.options)
            try await tpm.reset()
            await #expect(throws: BusError.foreignKey) { try await client.sign([1], with: item) }
            #expect(try await client.searchItems(["keychain:token": "tpm"]).unlocked == [item])
            let (new, publicKey, _) = try await client.generateKey("new", options: Self.options)
            try await expectSignature(with: new, publicKey, client)
            #expect(try await client.deleteItem(item) == .root)
        }
    }

    @Test("in a copy of the keychain file, the key signs on the same machine only")
    func sign_copiedFile_onTheSameMachineOnly() async throws {
        try await withTPM { service, tpm, _ in
            let (item, publicKey, _) = try await service.client.generateKey(options: Self.options)
            try await service.daemon.stop()
            let stored = service.daemon.dataHome
            for isSame in [true, false] {
                let other = isSame ? tpm : try await SoftwareTPM()
                let folder = try ConfigurationFolder("[host]\ntpm = \"\(other.transport)\"\n")
                var options = KeychainDaemon.Options()
                options.environment = folder.environment
                let copy = try await RunningService(options)
                try await copy.daemon.stop()
                try FileManager.default.removeItem(atPath: copy.daemon.dataHome)
                try FileManager.default.copyItem(atPath: stored, toPath: copy.daemon.dataHome)
                try await copy.daemon.start(options)
                let client = try await copy.makeClient()
                if isSame {
                    try await expectSignature(with: item, publicKey, client)
                } else {
                    await #expect(throws: BusError.foreignKey) { try await client.sign([1], with: item) }
                }
                try await copy.daemon.stop()
            }
        }
    }

    @Test("attributes that contradict the key make it an error, and nothing more")
    func changedAttributes_areErrors() async throws {
        try await withTPM { service, _, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, publicKey, _) = try await client.generateKey(options: Self.options)
            let (inMemory, _, _) = try await client.generateKey("key", ["application-tag": "02"])
            let attributes = try await client.attributes(of: item)
            for (name, value) in [
                ("keychain:token", nil), ("keychain:public-key", "04"), ("key-type", "rsa"),
            ] as [(String, String?)] {
                var changed = attributes
                changed[name] = value
                try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(changed))
                await #expect(throws: BusError.malformedKey, "\(name)") { try await client.sign([1], with: item) }
                await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            }
            try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(attributes))
            try await expectSignature(with: item, publicKey, client)
            var claiming = try await client.attributes(of: inMemory)
            claiming["keychain:token"] = "tpm"
            try await client.setProperty("Attributes", of: inMemory, Interface.item, to: .stringDictionary(claiming))
            await #expect(throws: BusError.malformedKey) { try await client.sign([1], with: inMemory) }
        }
    }
}
