import KeychaindDBus
import KeychaindTestSupport
import Testing

struct SecretStructTests {
    static let awkward: [[UInt8]] = [
        [], [0], [10], Array("line\nline\n".utf8), [0xff, 0xfe, 0x80], Array("a\0b\0".utf8), Array(0...255),
        [UInt8](repeating: 0x41, count: 4095), [UInt8](repeating: 0x41, count: 4096),
        [UInt8](repeating: 0x41, count: 4097), [UInt8](repeating: 0, count: 1 << 20),
    ]

    @Test("#13 #14 #15 a secret is (oayays): its session, no parameters or an IV of 16 bytes for Diffie-Hellman")
    func structure_isThatOfTheText() async throws {
        let (client, session) = try await SharedService.client()
        let encrypted = try await EncryptedSession(with: client)
        let item = try await client.createItem(session: session)
        #expect(try await client.call(item, Interface.item, "GetSecret", session).signature == "(oayays)")
        #expect(
            try await client.call(.service, Interface.service, "GetSecrets", [item], session).signature
                == "a{o(oayays)}"
        )
        for (path, count) in [(session, 0), (encrypted.path, 16)] {
            let secret = try await client.secret(of: item, session: path)
            #expect(secret.session == path && secret.parameters.count == count)
            #expect(try await client.secrets(of: [item], session: path)[item]?.session == path)
        }
    }

    @Test("#16 #107 a secret of any bytes is returned unchanged", arguments: awkward)
    func value_anyBytes_comesBack(value: [UInt8]) async throws {
        let (client, session) = try await SharedService.client()
        let encrypted = try await EncryptedSession(with: client)
        let plain = WireSecret(session: session, value: value)
        let item = try await client.createItem(properties: [:], secret: plain).item
        #expect(try await client.secret(of: item, session: session).value == value)
        #expect(try await encrypted.decrypt(client.secret(of: item, session: encrypted.path)) == value)
        try await client.setSecret(WireSecret(session: session, value: [1]), of: item)
        try await client.setSecret(encrypted.encrypt(value), of: item)
        #expect(try await client.secret(of: item, session: session).value == value)
    }

    @Test(
        "#17 the content type is returned as it was stored",
        arguments: ["text/plain", "text/plain; charset=utf8", "", "application/octet-stream", "тип/🔑 x"]
    )
    func contentType_comesBack(contentType: String) async throws {
        let (client, session) = try await SharedService.client()
        let secret = WireSecret(session: session, value: [1], contentType: contentType)
        let item = try await client.createItem(properties: [:], secret: secret).item
        #expect(try await client.secret(of: item, session: session) == secret)
        try await client.setSecret(WireSecret(session: session, value: [2], contentType: "other"), of: item)
        #expect(try await client.secret(of: item, session: session).contentType == "other")
    }

    @Test("#16 #17 #113 secrets and content types survive a restart")
    func values_afterARestart_comeBack() async throws {
        try await RunningService.withService { service in
            let client = service.client
            var session = try await client.openPlainSession()
            var items: [(ObjectPath, WireSecret)] = []
            for (number, value) in (SecretStructTests.awkward + [[UInt8](repeating: 7, count: 16 << 20)]).enumerated() {
                let secret = WireSecret(session: session, value: value, contentType: "type/\(number)")
                items.append((try await client.createItem(properties: [:], secret: secret).item, secret))
            }
            try await service.daemon.kill()
            try await service.daemon.start()
            session = try await client.openPlainSession()
            for (item, secret) in items {
                let read = try await client.secret(of: item, session: session)
                #expect(read.value == secret.value && read.contentType == secret.contentType)
            }
        }
    }

    @Test("#18 a secret of version 0.1, without content type, is InvalidArgs")
    func oldDialect_isInvalidArgs() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let setSecret = Message.call(to: KeychainDaemon.busName, item, Interface.item, "SetSecret")
        setSecret.write { SecretStructTests.writeOldSecret(session, to: &$0) }
        await #expect(throws: BusError.invalidArgs) { try await client.connection.call(setSecret) }
        let createItem = Message.call(to: KeychainDaemon.busName, .login, Interface.collection, "CreateItem")
        createItem.append([String: Variant]())
        createItem.write { writer in
            SecretStructTests.writeOldSecret(session, to: &writer)
            false.write(to: &writer)
        }
        await #expect(throws: BusError.invalidArgs) { try await client.connection.call(createItem) }
        #expect(try await client.secretText(of: item, session: session) == "secret")
    }

    private static func writeOldSecret(_ session: ObjectPath, to writer: inout Writer) {
        writer.writeStructure { writer in
            session.write(to: &writer)
            ByteArray([]).write(to: &writer)
            ByteArray([1]).write(to: &writer)
        }
    }
}
