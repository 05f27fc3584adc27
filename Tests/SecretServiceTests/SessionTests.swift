import KeychaindDBus
import KeychaindTestSupport
import Testing

struct SessionTests {
    @Test("#19 #21 #22 #24 #26 both algorithms need one round; plain has an empty string in both directions")
    func openSession_plain_givesAnEmptyString() async throws {
        let (client, _) = try await SharedService.client()
        let (output, session) = try await client.openSession("plain", .string(""))
        #expect(output == .string(""))
        for path in [session, try await EncryptedSession(with: client).path] {
            #expect(try await client.introspect(path).interfaces.contains(Interface.session))
        }
    }

    @Test(
        "#20 an unknown algorithm is org.freedesktop.DBus.Error.NotSupported",
        arguments: ["", "PLAIN", "dh-ietf1024-aes128-cbc-pkcs7", "dh-ietf1024-sha256-aes128-cbc-pkcs7 ", "none"]
    )
    func openSession_unknownAlgorithm_isNotSupported(algorithm: String) async throws {
        let (client, _) = try await SharedService.client()
        await #expect(throws: BusError.notSupported) { try await client.openSession(algorithm, .string("")) }
        await #expect(throws: BusError.notSupported) {
            try await client.openSession(algorithm, .bytes(ByteArray([1, 2, 3])))
        }
    }

    @Test("#23 the negotiated algorithm applies to all transfers of the session")
    func encryptedSession_isUsedEverywhere() async throws {
        let (client, plain) = try await SharedService.client()
        let session = try await EncryptedSession(with: client)
        let item = try await client.createItem(
            properties: SecretServiceProxy.itemProperties(label: "label", ["all": "transfers"]),
            secret: session.encrypt(Array("first".utf8))
        ).item
        #expect(try await client.secretText(of: item, session: plain) == "first")
        let single = try await client.secret(of: item, session: session.path)
        #expect(try session.decrypt(single) == Array("first".utf8) && single.value != Array("first".utf8))
        let batch = try await client.secrets(of: [item], session: session.path)
        #expect(try batch[item].map(session.decrypt) == Array("first".utf8))
        try await client.setSecret(session.encrypt(Array("second".utf8)), of: item)
        #expect(try await client.secretText(of: item, session: plain) == "second")
    }

    @Test("#25 #26 #45 an input of another type than plain's string and the ay of Diffie-Hellman is InvalidArgs")
    func openSession_otherInput_isInvalidArgs() async throws {
        let (client, _) = try await SharedService.client()
        let bytes = Variant.bytes(ByteArray([]))
        for (algorithm, inputs) in [
            ("plain", [bytes, .uint32(0), .variant(.string("")), .objectPath(.root)]),
            ("dh-ietf1024-sha256-aes128-cbc-pkcs7", [.string(""), .string("key"), .uint64(2), .strings([])]),
        ] as [(String, [Variant])] {
            for input in inputs {
                await #expect(throws: BusError.invalidArgs) { try await client.openSession(algorithm, input) }
            }
        }
    }

    @Test("#25 a plain secret with parameters is InvalidArgs and changes nothing")
    func plainSecret_withParameters_isInvalidArgs() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let secret = WireSecret(session: session, parameters: [0], value: [1])
        await #expect(throws: BusError.invalidArgs) { try await client.setSecret(secret, of: item) }
        await #expect(throws: BusError.invalidArgs) { try await client.createItem(properties: [:], secret: secret) }
        #expect(try await client.secretText(of: item, session: session) == "secret")
    }

    @Test("#32 every secret has padding and a fresh IV")
    func encryptedSecret_hasPaddingAndFreshIV() async throws {
        let (client, plain) = try await SharedService.client()
        let session = try await EncryptedSession(with: client)
        var vectors: Set<[UInt8]> = []
        for size in [0, 1, 15, 16, 17, 32] {
            let secret = WireSecret(session: plain, value: [UInt8](repeating: 1, count: size))
            let item = try await client.createItem(properties: [:], secret: secret).item
            for _ in 0..<4 {
                let read = try await client.secret(of: item, session: session.path)
                #expect(read.value.count == (size / 16 + 1) * 16)
                vectors.insert(read.parameters)
            }
            try await client.secrets(of: [item], session: session.path).values.forEach { vectors.insert($0.parameters) }
        }
        #expect(vectors.count == 30)
    }

    @Test("#33 #45 a bad IV, length or padding is InvalidArgs with one message and changes nothing")
    func encryptedSecret_spoiled_isInvalidArgs() async throws {
        let (client, plain) = try await SharedService.client()
        let session = try await EncryptedSession(with: client)
        let item = try await client.createItem(session: plain)
        let good = try session.encrypt([UInt8](repeating: 0x41, count: 20))
        var messages: Set<String> = []
        for spoil in SessionTests.spoilers {
            var secret = good
            spoil(&secret)
            do {
                try await client.setSecret(secret, of: item)
                Issue.record("a spoiled secret was taken: \(secret)")
            } catch {
                #expect(error == .invalidArgs)
                messages.insert(error.message)
            }
            await #expect(throws: BusError.invalidArgs) {
                try await client.createItem(properties: [:], secret: secret, replace: true)
            }
        }
        #expect(messages.count == 1)
        #expect(try await client.secretText(of: item, session: plain) == "secret")
    }

    private static let spoilers: [@Sendable (inout WireSecret) -> Void] = [
        { $0.parameters = [] },
        { $0.parameters.removeLast() },
        { $0.parameters.append(0) },
        { $0.value = [] },
        { $0.value.removeLast() },
        { $0.value.append(0) },
        // The last block has the padding; the one before is XORed with it.
        { $0.value[15] ^= 0xff },
        { $0.value[15] ^= 0x0c },
        { $0.value.removeLast(16) },
    ]

    @Test("#35 a session ends with the connection that opened it")
    func session_ofAClosedConnection_isGone() async throws {
        let (client, session) = try await SharedService.client()
        let other = try await SharedService.get().makeClient()
        let item = try await client.createItem(session: session)
        await client.disconnect()
        let own = try await other.openPlainSession()
        #expect(try await other.secretText(of: item, session: own) == "secret")
        await #expect(throws: BusError.noSession) { try await other.secret(of: item, session: session) }
        await #expect(throws: BusError.unknownObject) { try await other.closeSession(session) }
    }

    @Test("#36 Close ends only this session")
    func close_endsTheSession() async throws {
        let (client, session) = try await SharedService.client()
        let other = try await client.openPlainSession()
        let item = try await client.createItem(session: session)
        try await client.closeSession(session)
        await #expect(throws: BusError.noSession) { try await client.secret(of: item, session: session) }
        await #expect(throws: BusError.unknownObject) { try await client.closeSession(session) }
        #expect(try await client.secretText(of: item, session: other) == "secret")
    }

    @Test("#37 a client may have several sessions")
    func sessions_severalOfOneClient_work() async throws {
        let (client, first) = try await SharedService.client()
        let item = try await client.createItem(session: first)
        for _ in 0..<20 {
            let session = try await EncryptedSession(with: client)
            #expect(try await session.decrypt(client.secret(of: item, session: session.path)) == Array("secret".utf8))
        }
        #expect(try await client.secretText(of: item, session: first) == "secret")
    }

    @Test("#38 #41 another client's session does not exist")
    func session_ofAnother_isNoSession() async throws {
        let (client, session) = try await SharedService.client()
        let (other, own) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let secret = WireSecret(session: session, value: [1])
        await #expect(throws: BusError.noSession) { try await other.secret(of: item, session: session) }
        await #expect(throws: BusError.noSession) { try await other.secrets(of: [item], session: session) }
        await #expect(throws: BusError.noSession) { try await other.setSecret(secret, of: item) }
        await #expect(throws: BusError.noSession) { try await other.createItem(properties: [:], secret: secret) }
        await #expect(throws: BusError.unknownObject) { try await other.closeSession(session) }
        await #expect(throws: BusError.unknownObject) { try await other.introspect(session) }
        #expect(try await !other.introspect(session.parent).children.contains(session.name))
        #expect(try await client.secretText(of: item, session: session) == "secret")
        #expect(try await other.secretText(of: item, session: own) == "secret")
    }
}
