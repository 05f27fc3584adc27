import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Faulty and hostile clients.
struct HostileClientTests {
    @Test(
        "#45 the service answers each of many random calls, also with a locked keychain",
        arguments: [false, true]
    )
    func randomCalls_areAnswered(isLocked: Bool) async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("label", ["kept": "yes"], secret: "kept", session: session)
            let key = try await client.generateKey().item
            let hostile = try await service.makeClient()
            let own = try await hostile.openPlainSession()
            if isLocked { try await client.lock([.login]) }
            var random = RandomValues(seed: CaseSample.seed)
            for _ in 0..<CaseSample.size(of: 4000, oneIn: 10) {
                let message = HostileClientTests.randomCall(&random, item, key, own)
                do throws(BusError) {
                    _ = try await hostile.connection.call(message, timeout: Patience.limit)
                } catch {
                    #expect(error.name != .noReply && error.name != .disconnected, "\(error)")
                }
            }
            if isLocked { try await client.unlockWithMasterPassword(.login, .password("password", session)) }
            #expect(try await client.secretText(of: item, session: session) == "kept")
            #expect(service.daemon.child.isRunning)
        }
    }

    /// A call of an existing or similar object; it never changes or deletes the kept item.
    private static func randomCall(
        _ random: inout RandomValues,
        _ item: ObjectPath,
        _ key: ObjectPath,
        _ session: ObjectPath
    ) -> Message {
        let paths = [
            key, .root, .service, .defaultAlias, .sessionCollection, session, session.parent,
            .service.appending("prompt"), .service.appending("collection"), .service.appending("aliases"),
            random.objectPath(),
            .service.appending("collection/_"), .service.appending("collection/login/99999999999999999999"),
        ]
        let interfaces = [
            Interface.service, Interface.collection, Interface.item, Interface.session, Interface.prompt,
            StandardInterface.properties, StandardInterface.introspectable, "org.example.Nothing",
            "org.keychaind.Search1",
            SecretServiceProxy.keyInterface, SecretServiceProxy.keysInterface,
        ]
        let members = [
            "OpenSession", "CreateCollection", "SearchItems", "Unlock", "GetSecrets", "ReadAlias", "SetAlias",
            "CreateItem", "GetSecret", "SetSecret", "Close", "Prompt", "Dismiss", "Get", "Set", "GetAll", "Introspect",
            "Nothing", "Search", "Sign", "Decrypt", "Agree", "GenerateKey",
        ]
        let message = Message.call(
            to: KeychainDaemon.busName,
            random.choice(paths),
            random.choice(interfaces),
            random.choice(members)
        )
        let secret = WireSecret(
            session: random.choice([session, .root, random.objectPath()]),
            parameters: random.bytes().bytes,
            value: random.bytes().bytes,
            contentType: random.string()
        )
        let algorithms = [
            random.string(), KeyKind.p256.signature, "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM",
            "algid:keyexchange:ECDH:KDFX963:SHA256",
        ]
        switch random.choice(Array(0..<15)) {
        case 0: message.append(random.properties(), secret, random.choice([true, false]))
        case 1: message.append(random.properties(), random.string())
        case 2: message.append(random.stringDictionary())
        case 3: message.append([item, random.objectPath(), .defaultAlias], session)
        case 4: message.append(random.string(), random.variant())
        case 5: message.append(secret)
        case 6: message.append(random.choice(interfaces), random.string(), random.variant())
        case 7: message.append(random.string(), random.objectPath())
        case 8: message.append(random.variant(), random.bytes())
        case 9: message.append(random.choice(algorithms), random.bytes())
        case 10: message.append(session, random.choice(algorithms), random.bytes())
        case 11: message.append(session, random.choice(algorithms), random.bytes(), random.properties())
        case 12:
            let type = random.choice(["ec", random.string()])
            message.append(random.properties(), [random.string()], type, UInt32(256), random.properties())
        case 13:
            message.append(
                [random.stringDictionary(), [:]],
                random.choice([session, .root]),
                random.choice([0, 1, .max]) as UInt32
            )
        default: break
        }
        return message
    }

    @Test("#35 #78 #120 a client that leaves during its calls does not affect others")
    func vanishingClient_disturbsNobody() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            for round in 0..<10 {
                let hostile = try await service.makeClient()
                let own = try await hostile.openPlainSession()
                let calls = (0..<20).map { number in
                    Task {
                        _ = try? await hostile.createItem("\(round)", ["n": "\(number)"], session: own)
                        _ = try? await hostile.createCollection([:])
                        _ = try? await hostile.searchItems([:])
                    }
                }
                try await client.roundTrip()
                await hostile.disconnect()
                for call in calls { await call.value }
            }
            // Changes run in order: those of the other clients complete before this.
            _ = try await client.createItem("last", session: session)
            let found = try await client.searchItems([:]).unlocked
            #expect(try await Set(client.items(of: .login)) == Set(found))
            #expect(try await client.secrets(of: found, session: session).count == found.count)
            try await service.daemon.kill()
            try await service.daemon.start()
            #expect(try await Set(client.items(of: .login)) == Set(found))
        }
    }

    /// The longest message after the bus has added the sender: an answer that repeats it would be too long.
    private let longestCall = """
        import dbus, dbus.lowlevel
        bus = dbus.SessionBus(private=True)
        call = dbus.lowlevel.MethodCallMessage(
            'org.freedesktop.secrets', '/', 'org.freedesktop.DBus.Properties', 'GetAll')
        call.append('a' * ((128 << 20) - 149))
        try:
            bus.send_message_with_reply_and_block(call, 100)
        except dbus.DBusException as error:
            print(error.get_dbus_name())
        """

    @Test("#47 the longest possible call is answered")
    func longestCall_isAnswered() async throws {
        try await RunningService.withService { service in
            let result = try await Command.python(longestCall, environment: service.daemon.environment)
            #expect(result.text == "org.freedesktop.DBus.Error.UnknownInterface\n", "\(result.errors)")
            #expect(try await service.client.readAlias("default") == .login)
            #expect(service.daemon.child.isRunning)
        }
    }

    @Test("#38 of too many sessions of a client the oldest unused ones end, and others are served")
    @BusActor
    func manySessions_harmNobody() async throws {
        var limits = ServiceLimits.patient
        limits.sessions = 64
        let service = try await ProviderInProcess(limits: limits)
        let client = service.client
        let session = try await client.openPlainSession()
        let item = try await client.createItem(in: .sessionCollection, session: session)
        let greedy = try SecretServiceProxy(on: service.bus)
        let used = try await greedy.openPlainSession()
        let unused = try await greedy.openPlainSession()
        var newest = unused
        for number in 0..<72 {
            newest = try await greedy.openPlainSession()
            if number % 32 == 0 { #expect(try await greedy.secretText(of: item, session: used) == "secret") }
        }
        #expect(try await greedy.secretText(of: item, session: used) == "secret")
        #expect(try await greedy.secretText(of: item, session: newest) == "secret")
        await #expect(throws: BusError.noSession) { try await greedy.secret(of: item, session: unused) }
        #expect(try await greedy.introspect(newest.parent).children.count == 64)
        #expect(try await client.secretText(of: item, session: session) == "secret")
        await service.vault.close()
    }

    @Test("#16 #48 a client that does not read its answers does not delay others")
    func clientThatDoesNotRead_holdsUpNobody() async throws {
        let service = try await SharedService.get()
        let (client, session) = try await SharedService.client()
        let secret = WireSecret(session: session, value: [UInt8](repeating: 1, count: 1 << 20))
        let item = try await client.createItem(properties: [:], secret: secret).item
        // Asks for 40 MiB.
        let deaf = try await DeafClient(askingFor: item, times: 40, environment: service.daemon.environment)
        for _ in 0..<5 {
            #expect(try await client.secret(of: item, session: session).value.count == 1 << 20)
        }
        try await deaf.kill()
        #expect(try await client.secret(of: item, session: session).value.count == 1 << 20)
    }
}
