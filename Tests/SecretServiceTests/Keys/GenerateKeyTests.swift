import KeychaindDBus
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport
import Testing

/// `GenerateKey` of `org.keychaind.Keys1`.
struct GenerateKeyTests {
    @Test("a generated key signs, is described by its attributes and never leaves", arguments: KeyKind.allCases)
    func generateKey_signs_andStays(kind: KeyKind) async throws {
        let (client, session) = try await SharedService.client()
        let tag = ["application-tag": "01", "kind": kind.rawValue]
        let (item, publicKey, prompt) = try await client.generateKey("Key", tag, kind)
        #expect(prompt == .root)
        let hash = try HashFunction.sha1.digest(of: publicKey)
        #expect(
            try await client.attributes(of: item)
                == tag.merging([
                    "xdg:schema": "org.keychaind.Key", "key-class": "private", "key-type": kind.type.rawValue,
                    "key-size": "\(kind.bits)", "effective-key-size": "\(kind.bits)",
                    "application-label": hexadecimal(hash), "keychain:public-key": hexadecimal(publicKey),
                    "keychain:extractable": "false",
                ]) { $1 }
        )
        #expect(try await client.label(of: item) == "Key")
        await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
        let plain = try await client.createItem("plain", tag, session: session)
        #expect(try await Set(client.secrets(of: [item, plain], session: session).keys) == [plain])
        #expect(try await client.find([tag], session: session).secrets.keys.contains(item) == false)
        #expect(try await Set(client.get([item, plain], session: session).secrets.keys) == [plain])
        let message = Array("message".utf8)
        let signature = try await client.sign(message, with: item, kind.signature)
        #expect(try kind.verifies(signature, of: message, by: publicKey))
    }

    @Test("an extractable key can be read")
    func generateKey_extractable_isRead() async throws {
        let (client, session) = try await SharedService.client()
        let (item, publicKey, _) = try await client.generateKey(options: ["extractable": .boolean(true)])
        let secret = try await client.secret(of: item, session: session)
        #expect(try KeyMaterial(secret.value, type: .ec, keyClass: .private).publicBytes == publicKey)
        #expect(try await client.attributes(of: item)["keychain:extractable"] == "true")
        #expect(try await KeyKind.p256.verifies(client.sign([1], with: item), of: [1], by: publicKey))
    }

    @Test("an application label that is given is kept, and makes the key unique")
    func generateKey_sameKey_alreadyExists() async throws {
        let (client, _) = try await SharedService.client()
        let label = ["application-label": "0102"]
        let (item, _, _) = try await client.generateKey("key", label)
        #expect(try await client.attributes(of: item)["application-label"] == "0102")
        await #expect(throws: BusError.alreadyExists) { try await client.generateKey("key", label) }
        _ = try await client.generateKey("key", label, .p384)
    }

    @Test("what cannot be generated is an error, and nothing is stored")
    func generateKey_impossible_storesNothing() async throws {
        let (client, _) = try await SharedService.client()
        let mark = ["case": "impossible"]
        await #expect(throws: BusError.invalidArgs) {
            try await client.generateKey("key", mark.merging(["keychain:access-control": "nonsense"]) { $1 })
        }
        await #expect(throws: BusError.invalidArgs) {
            try await client.generateKey(
                "key",
                mark.merging(["xdg:schema": "org.gnome.keyring.NetworkPassword"]) { $1 }
            )
        }
        await #expect(throws: BusError.invalidArgs) { try await client.generateKey("key", mark, unique: []) }
        await #expect(throws: BusError.invalidArgs) {
            try await client.generateKey("key", mark, options: ["extractable": .string("yes")])
        }
        await #expect(throws: BusError.notSupported) {
            try await client.generateKey("key", mark, options: ["token": .string("unknown")])
        }
        for (type, bits, error) in [
            ("dsa", 2048, BusError.unsupportedKey), ("aes", 256, .unsupportedKey), ("ec", 257, .unsupportedKey),
            ("rsa", 1024, .unsupportedKey), ("rsa", UInt32.max, .unsupportedKey), ("none", 1, .invalidArgs),
        ] as [(String, UInt32, BusError)] {
            await #expect(throws: error, "\(type) \(bits)") {
                try await client.call(
                    .login,
                    SecretServiceProxy.keysInterface,
                    "GenerateKey",
                    SecretServiceProxy.itemProperties(label: "key", mark),
                    SecretServiceProxy.keyNames,
                    type,
                    bits,
                    [String: Variant]()
                )
            }
        }
        #expect(try await client.searchItems(mark).unlocked.isEmpty)
    }

    @Test("a key with an application password is stored by a prompt")
    func generateKey_applicationPassword_asks() async throws {
        try await RunningService.withPrompter([.answer("own")]) { service, prompter in
            let client = service.client
            let control = [Reserved.accessControl: "privateKeyUsage and applicationPassword"]
            let (made, publicKey, prompt) = try await client.generateKey("Key", control)
            #expect(made == .root)
            let item = try #require(try await client.complete(prompt).path)
            await #expect(throws: BusError.isLocked) { try await client.sign([1], with: item) }
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            #expect(try await KeyKind.p256.verifies(client.sign([1], with: item), of: [1], by: publicKey))
        }
    }

    @Test("a locked collection gets no key")
    func generateKey_locked_isLocked() async throws {
        try await RunningService.withService { service in
            try await service.client.lock([.login])
            await #expect(throws: BusError.isLocked) { try await service.client.generateKey() }
            await #expect(throws: BusError.noSuchObject) {
                try await service.client.generateKey(in: .service.appending("collection/none"))
            }
        }
    }

    /// Lower-case hexadecimal, as in attributes.
    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
