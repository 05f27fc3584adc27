import KeychaindDBus
import KeychaindTestSupport
import SecretServiceClient
import Testing

struct SecretTests {
    @Test(arguments: TestedProvider.allCases)
    func secret_anyBytes_comeBack(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        let secrets: [[UInt8]] = [
            [], [0], Array("pass\nword".utf8), [0xff, 0xfe, 0, 1], Array(0...15),
            [UInt8](repeating: 7, count: 1 << 20),
        ]
        for bytes in secrets {
            let (item, _) = try await client.makeItem(bytes, contentType: "application/octet-stream")
            let secret = try await item.secret()
            #expect(secret.bytes == bytes && secret.count == bytes.count)
            try await item.delete()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func setSecret_replacesTheSecret(provider: TestedProvider) async throws {
        let (item, _) = try await provider.makeClient().makeItem()
        try await item.setSecret(Secret("another"))
        #expect(try await item.secret().text == "another")
    }

    @Test
    func secret_contentType_comesBack() async throws {
        let (item, _) = try await TestedProvider.keychaind.makeClient().makeItem([1], contentType: "image/png")
        #expect(try await item.secret().contentType == "image/png")
    }

    @Test("A secret stored as text is a password for libsecret", arguments: TestedProvider.allCases)
    func secret_text_isReadBySecretTool(provider: TestedProvider) async throws {
        let (_, attributes) = try await provider.makeClient().makeItem(Array("pässword".utf8))
        let result = try await Command.run(
            "secret-tool",
            ["lookup"] + attributes.flatMap { [$0.key, $0.value] },
            environment: try await provider.shared().bus.environment
        )
        #expect(result.text == "pässword", "\(result.errors)")
    }

    @Test
    func text_notUTF8_isNil() throws {
        #expect(try Secret([0xff]).text == nil)
        #expect(try Secret("å").text == "å")
        #expect(try Secret("å").contentType == Secret.text)
    }

    @Test
    func init_tooManyBytes_isRefused() async throws {
        #expect(
            try await code {
                try Secret([UInt8](repeating: 0, count: Secret.maximumCount + 1))
            } == .limitExceeded
        )
    }

    @Test(arguments: TestedProvider.allCases, [SecretClient.Configuration.Encryption.none, .required])
    func secret_eitherEncryption_comesBack(
        provider: TestedProvider,
        encryption: SecretClient.Configuration.Encryption
    ) async throws {
        var configuration = try await provider.makeClient().configuration
        configuration.encryption = encryption
        let (item, _) = try await SecretClient.connect(configuration).makeItem([1, 2, 3])
        #expect(try await item.secret().bytes == [1, 2, 3])
    }

    @Test(arguments: TestedProvider.allCases)
    func forEachSecret_severalItems_givesEach(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        let first = try await client.makeItem([1]).item
        let second = try await client.makeItem([2]).item
        let missing = try client.item(at: first.path + "99")
        var found: [SecretItem: [UInt8]] = [:]
        try await client.forEachSecret(of: [first, second, missing]) { item, secret in found[item] = secret.bytes }
        #expect(found == [first: [1], second: [2]])
    }

    @Test("An error of the closure ends the reading and is rethrown", arguments: TestedProvider.allCases)
    func forEachSecret_closureFails_endsWithItsError(provider: TestedProvider) async throws {
        struct DiskFull: Error {}
        let client = try await provider.makeClient()
        let items = [try await client.makeItem([1]).item, try await client.makeItem([2]).item]
        var count = 0
        await #expect(throws: DiskFull.self) {
            try await client.forEachSecret(of: items) { _, _ throws(DiskFull) in
                count += 1
                throw DiskFull()
            }
        }
        #expect(count == 1)
    }

    @Test("A library error that the closure throws is not mistaken for one of the reading")
    func forEachSecret_closureThrowsNoSession_isNotRepeated() async throws {
        let client = try await TestedProvider.keychaind.makeClient()
        let item = try await client.makeItem([1]).item
        var count = 0
        await #expect(throws: SecretServiceError(.noSession, "of the test's own")) {
            try await client.forEachSecret(of: [item]) { _, _ in
                count += 1
                throw SecretServiceError(.noSession, "of the test's own", errorName: nil)
            }
        }
        #expect(count == 1)
    }

    @Test
    func session_manySecretsAtOnce_isOpenedOnce() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            switch call.member {
            case "OpenSession": try ScriptedProvider.plainSession(call)
            default: call.reply(with: WireSecret(session: ScriptedProvider.session, value: [1]))
            }
        }
        let client = try await provider.makeClient()
        let item = try client.item(at: ScriptedProvider.item)
        let reads = (0..<20).map { _ in Task { try await item.secret().bytes } }
        for read in reads {
            #expect(try await read.value == [1])
        }
        // One client with encryption, one without.
        #expect(provider.calls.all.filter { $0 == "OpenSession" }.count == 2)
        #expect(provider.calls.all.filter { $0 == "GetSecret" }.count == 20)
    }

    @Test
    func session_providerWithoutEncryption_isRefusedWhereItIsRequired() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            try ScriptedProvider.plainSession(call)
        }
        let client = try await provider.makeClient { $0.encryption = .required }
        let item = try client.item(at: ScriptedProvider.item)
        #expect(try await code { try await item.secret() } == .notSupported)
        #expect(provider.calls.all == ["OpenSession"])
    }

    @Test("Another failure of the provider does not downgrade the session to plain")
    func session_encryptionFails_isNotTriedPlain() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in throw BusError(.failed, "no") }
        let item = try await provider.makeClient().item(at: ScriptedProvider.item)
        #expect(try await code { try await item.secret() } == .providerFailed)
        #expect(provider.calls.all == ["OpenSession"])
    }

    @Test("A provider that drops zero bytes of the shared secret, as KWallet does, is asked for another session")
    func session_sharedSecretBeginsWithZero_isOpenedAnew() async throws {
        let provider = try await ScriptedProvider { (call, provider) throws(BusError) in
            switch call.member {
            case "OpenSession":
                guard provider.calls.count == 1 else { return try ScriptedProvider.plainSession(call) }
                try ScriptedProvider.sessionWithZero(call)
            case "Close": break
            default: call.reply(with: WireSecret(session: ScriptedProvider.session, value: [1]))
            }
        }
        let item = try await provider.makeClient().item(at: ScriptedProvider.item)
        #expect(try await item.secret().bytes == [1])
        #expect(provider.calls.all == ["OpenSession", "Close", "OpenSession", "OpenSession", "GetSecret"])
    }

    @Test
    func session_forgottenOnce_isOpenedAnew() async throws {
        let gets = Recorder<Void>()
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            guard call.member == "GetSecret" else { return try ScriptedProvider.plainSession(call) }
            gets.record(())
            guard gets.count > 1 else {
                throw BusError(ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSession"), "")
            }
            call.reply(with: WireSecret(session: ScriptedProvider.session, value: [1]))
        }
        let item = try await provider.makeClient { $0.encryption = .none }.item(at: ScriptedProvider.item)
        #expect(try await item.secret().bytes == [1])
        #expect(provider.calls.all == ["OpenSession", "GetSecret", "OpenSession", "GetSecret"])
    }

    @Test
    func session_alwaysForgotten_isNoSession() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            guard call.member == "GetSecret" else { return try ScriptedProvider.plainSession(call) }
            throw BusError(ErrorName(rawValue: "org.freedesktop.Secret.Error.NoSession"), "")
        }
        let item = try await provider.makeClient { $0.encryption = .none }.item(at: ScriptedProvider.item)
        #expect(try await code { try await item.secret() } == .noSession)
    }
}
