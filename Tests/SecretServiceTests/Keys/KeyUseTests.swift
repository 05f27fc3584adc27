import KeychaindDBus
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport
import Testing

/// `org.keychaind.Key1`: signing, decrypting and agreeing, and what hostile programs may try.
struct KeyUseTests {
    private static let ecies = "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"
    private static let oaep = "algid:encrypt:RSA:OAEP:SHA256"

    @Test("a key decrypts what was encrypted for it", arguments: [(KeyKind.p256, ecies), (.rsa2048, oaep)])
    func decrypt_ciphertext_isThePlaintext(kind: KeyKind, algorithm: String) async throws {
        let (client, session) = try await SharedService.client()
        let (item, publicKey, _) = try await client.generateKey("key", ["case": "decrypt"], kind)
        let plaintext = Array("plaintext".utf8)
        let recipient = try KeyMaterial(publicKey, type: kind.type, keyClass: .public)
        let ciphertext = try plaintext.span.withUnsafeBytes { plaintext in
            try recipient.encrypt(plaintext, KeyAlgorithm(rawValue: algorithm)!)
        }
        #expect(try await client.decrypt(ciphertext, with: item, algorithm, session: session) == plaintext)
        let encrypted = try await EncryptedSession(with: client)
        let reply = try await client.call(
            item,
            SecretServiceProxy.keyInterface,
            "Decrypt",
            encrypted.path,
            algorithm,
            ByteArray(ciphertext)
        ).read(WireSecret.self)
        #expect(try encrypted.decrypt(reply) == plaintext)
        // One error, whatever is wrong.
        var reasons: Set<String> = []
        var damaged = [Array(ciphertext.dropLast()), ciphertext + [0], []]
        for index in [0, ciphertext.count / 2, ciphertext.count - 1] {
            var flipped = ciphertext
            flipped[index] ^= 1
            damaged.append(flipped)
        }
        for ciphertext in damaged {
            do throws(BusError) {
                _ = try await client.decrypt(ciphertext, with: item, algorithm, session: session)
                Issue.record("a damaged ciphertext was decrypted")
            } catch {
                #expect(error == .decryptionFailed)
                reasons.insert(error.message)
            }
        }
        #expect(reasons.count == 1)
    }

    @Test(
        "both sides agree on the same secret",
        arguments: [
            ("algid:keyexchange:ECDH", [:]),
            (
                "algid:keyexchange:ECDHC:KDFX963:SHA256",
                ["requestedSize": .uint32(48), "sharedInfo": .bytes(ByteArray([1, 2, 3]))]
            ),
        ] as [(String, [String: Variant])]
    )
    func agree_bothSides_areEqual(algorithm: String, parameters: [String: Variant]) async throws {
        let (client, session) = try await SharedService.client()
        let (item, publicKey, _) = try await client.generateKey("key", ["case": "agree"])
        let own = try KeyMaterial(making: .ec, bits: 256)
        let secret = try await client.agree(
            with: #require(own.publicBytes),
            by: item,
            algorithm,
            parameters,
            session: session
        )
        let expected = try own.agree(
            with: publicKey,
            KeyAlgorithm(rawValue: algorithm)!,
            size: parameters.isEmpty ? nil : 48,
            sharedInfo: parameters.isEmpty ? [] : [1, 2, 3]
        )
        #expect(expected.withUnsafeBytes { Array($0) } == secret)
        for point in [[], [4], publicKey.map { $0 ^ 1 }, Array(publicKey.dropLast())] as [[UInt8]] {
            await #expect(throws: BusError.self) {
                try await client.agree(with: point, by: item, algorithm, parameters, session: session)
            }
        }
        await #expect(throws: BusError.invalidArgs) {
            try await client.agree(
                with: publicKey,
                by: item,
                algorithm,
                ["requestedSize": .string("1")],
                session: session
            )
        }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.agree(
                with: publicKey,
                by: item,
                algorithm,
                ["requestedSize": .uint32(.max)],
                session: session
            )
        }
    }

    @Test("algorithms that do not fit, sessions of others and too much data are errors")
    func use_badArguments_areErrors() async throws {
        let (client, session) = try await SharedService.client()
        let (item, publicKey, _) = try await client.generateKey("key", ["case": "arguments"])
        let other = try await SharedService.get().makeClient()
        for algorithm in [
            "", "nonsense", "algid:sign:RSA:message-PSS:SHA256:SHA256:32", KeyUseTests.ecies, "algid:keyexchange:ECDH",
        ] {
            await #expect(throws: BusError.unsuitableAlgorithm) {
                try await client.sign([1], with: item, algorithm)
            }
        }
        await #expect(throws: BusError.unsuitableAlgorithm) {
            try await client.decrypt([1], with: item, KeyUseTests.oaep, session: session)
        }
        await #expect(throws: BusError.noSession) {
            try await other.decrypt([1], with: item, KeyUseTests.ecies, session: session)
        }
        await #expect(throws: BusError.noSession) {
            try await other.agree(with: publicKey, by: item, "algid:keyexchange:ECDH", session: session)
        }
        let most = [UInt8](repeating: 7, count: 16 << 20)
        #expect(try await KeyKind.p256.verifies(client.sign(most, with: item), of: most, by: publicKey))
        await #expect(throws: BusError.limitsExceeded) { try await client.sign(most + [1], with: item) }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.decrypt(most + [1], with: item, KeyUseTests.ecies, session: session)
        }
    }

    @Test("no change of the attributes brings a key out or crashes the service")
    func changedAttributes_areErrors() async throws {
        let (client, session) = try await SharedService.client()
        let (item, publicKey, _) = try await client.generateKey("key", ["case": "changed"])
        let attributes = try await client.attributes(of: item)
        func change(_ changes: [String: String?]) async throws {
            var changed = attributes
            for (name, value) in changes { changed[name] = value }
            try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(changed))
        }
        let rsa = KeyKind.rsa2048.signature
        for (changes, algorithm, error) in [
            (["key-type": "rsa"], rsa, .malformedKey), (["key-type": "rsa"], KeyKind.p256.signature, .malformedKey),
            (["key-type": "aes"], rsa, .unsupportedKey), (["key-type": nil], rsa, .invalidArgs),
            (["key-class": "public"], KeyKind.p256.signature, .invalidArgs),
            (["xdg:schema": "org.freedesktop.Secret.Generic"], KeyKind.p256.signature, .invalidArgs),
            (["keychain:public-key": "04"], KeyKind.p256.signature, .malformedKey),
            (["keychain:extractable": "true"], rsa, .unsuitableAlgorithm),
        ] as [([String: String?], String, BusError)] {
            try await change(changes)
            await #expect(throws: error, "\(changes)") { try await client.sign([1], with: item, algorithm) }
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            #expect(try await client.secrets(of: [item], session: session).isEmpty)
        }
        // A key whose public half is missing is no other key.
        try await change(["keychain:public-key": nil])
        #expect(try await KeyKind.p256.verifies(client.sign([1], with: item), of: [1], by: publicKey))
    }

    @Test("a program that replaces a key does not get the old one")
    func replacedSecret_isTheNewOne() async throws {
        let (client, session) = try await SharedService.client()
        let (item, _, _) = try await client.generateKey("key", ["case": "replaced"])
        let secret = WireSecret(session: session, value: [1, 2, 3])
        try await client.setSecret(secret, of: item)
        #expect(try await client.secret(of: item, session: session).value == [1, 2, 3])
        await #expect(throws: BusError.malformedKey) { try await client.sign([1], with: item) }
    }

    @Test("a stored key is one of the item's type, or it is not stored")
    func reservedContentType_isChecked() async throws {
        let (client, session) = try await SharedService.client()
        let key = try KeyMaterial(making: .ec, bits: 256)
        let item = try await client.storeKey(
            key,
            ["case": "c"],
            contentType: KeyContentType.privateKey,
            session: session
        )
        await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
        let publicKey = try #require(key.publicBytes)
        #expect(try await KeyKind.p256.verifies(client.sign([1], with: item), of: [1], by: publicKey))
        let mark = ["case": "not stored"]
        for (contentType, attributes) in [
            (KeyContentType.privateKey, ["key-type": "rsa"]), (KeyContentType.privateKey, ["key-class": "public"]),
            (KeyContentType.privateKey, ["xdg:schema": "org.example.Other"]),
            (KeyContentType.privateKey, ["keychain:public-key": "0400"]), (KeyContentType.tpmKey, [:]),
            ("application/x-keychaind-", [:]), ("application/x-keychaind-unknown", [:]),
        ] as [(String, [String: String])] {
            await #expect(throws: BusError.invalidArgs, "\(contentType) \(attributes)") {
                try await client.storeKey(
                    key,
                    mark.merging(attributes) { $1 },
                    contentType: contentType,
                    session: session
                )
            }
        }
        #expect(try await client.searchItems(mark).unlocked.isEmpty)
        let plain = try await client.createItem("plain", session: session)
        for (path, contentType) in [
            (plain, KeyContentType.privateKey), (plain, KeyContentType.tpmKey), (item, KeyContentType.privateKey),
        ] {
            await #expect(throws: BusError.invalidArgs) {
                try await client.setSecret(
                    WireSecret(session: session, value: [4, 5, 6], contentType: contentType),
                    of: path
                )
            }
        }
        #expect(try await client.secretText(of: plain, session: session) == "secret")
        #expect(try await KeyKind.p256.verifies(client.sign([1], with: item), of: [1], by: publicKey))
    }

    @Test("a key that programs can read is used, too, whatever its size; a password is no key")
    func readableKey_isUsed() async throws {
        let (client, session) = try await SharedService.client()
        for kind in KeyKind.allCases {
            let key = try KeyMaterial(making: kind.type, bits: kind.bits)
            let item = try await client.storeKey(key, ["case": "readable \(kind)"], session: session)
            let signature = try await client.sign([1], with: item, kind.signature)
            #expect(try kind.verifies(signature, of: [1], by: #require(key.publicBytes)))
        }
        let password = try await client.createItem("password", ["case": "no key"], session: session)
        await #expect(throws: BusError.invalidArgs) { try await client.sign([1], with: password) }
        let claim = ["xdg:schema": "org.keychaind.Key", "key-class": "private", "key-type": "ec"]
        let garbage = try await client.createItem("garbage", claim, session: session)
        await #expect(throws: BusError.malformedKey) { try await client.sign([1], with: garbage) }
        _ = try await client.deleteItem(garbage)
        await #expect(throws: BusError.noSuchObject) { try await client.sign([1], with: garbage) }
    }
}
