import KeychaindDBus
import KeychaindTestSupport
import Testing

struct ErrorTests {
    @Test("#40 #97 #98 #108 #110 #129 every access to a locked object is IsLocked until it is unlocked")
    func lockedObject_isLocked() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("label", ["a": "b"], session: session)
            try await client.lock([.login])
            try await expectLocked(item, client, session)
            try await service.restartLocked()
            try await expectLocked(item, client, client.openPlainSession())
            _ = try await service.unlock([.login])
            #expect(try await client.label(of: item) == "label")
            #expect(try await client.attributes(of: item) == ["a": "b"])
            let second = try await client.createItem("second", session: client.openPlainSession())
            #expect(try await client.items(of: .login) == [item, second])
        }
    }

    private func expectLocked(_ item: ObjectPath, _ client: SecretServiceProxy, _ session: ObjectPath) async throws {
        let secret = WireSecret(session: session, value: [1])
        await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        await #expect(throws: BusError.isLocked) { try await client.setSecret(secret, of: item) }
        await #expect(throws: BusError.isLocked) { try await client.deleteItem(item) }
        await #expect(throws: BusError.isLocked) { try await client.createItem(properties: [:], secret: secret) }
        for (name, value) in [
            ("Label", .string("x")), ("Attributes", .stringDictionary([:])), ("Type", .string("x")),
        ] as [(String, Variant)] {
            await #expect(throws: BusError.isLocked) {
                try await client.setProperty(name, of: item, Interface.item, to: value)
            }
        }
        await #expect(throws: BusError.isLocked) {
            try await client.setProperty("Label", of: .login, Interface.collection, to: .string("x"))
        }
    }

    @Test(
        "#41 a missing session is org.freedesktop.Secret.Error.NoSession",
        arguments: [
            "/", "/org/freedesktop/secrets/session/none", "/org/freedesktop/secrets/session",
            "/org/freedesktop/secrets/collection/login", "/elsewhere",
        ]
    )
    func unknownSession_isNoSession(path: String) async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let path = ObjectPath(unchecked: path)
        let secret = WireSecret(session: path, value: [1])
        await #expect(throws: BusError.noSession) { try await client.secret(of: item, session: path) }
        await #expect(throws: BusError.noSession) { try await client.secrets(of: [item], session: path) }
        await #expect(throws: BusError.noSession) { try await client.setSecret(secret, of: item) }
        await #expect(throws: BusError.noSession) { try await client.createItem(properties: [:], secret: secret) }
        #expect(try await client.secretText(of: item, session: session) == "secret")
    }

    @Test(
        "#42 #44 a missing item or collection is org.freedesktop.Secret.Error.NoSuchObject",
        arguments: [
            "collection/none", "collection/login/999999999", "collection/login/none", "collection/login/01",
            "collection/login/18446744073709551616", "collection/none/1", "aliases/none",
            "aliases/default/999999999", "collection/login/1/1", "collection/_zz", "collection/LOGIN",
        ]
    )
    func unknownObject_isNoSuchObject(path: String) async throws {
        let (client, session) = try await SharedService.client()
        let path = ObjectPath(unchecked: "/org/freedesktop/secrets/\(path)")
        await #expect(throws: BusError.noSuchObject) { try await client.secret(of: path, session: session) }
        await #expect(throws: BusError.noSuchObject) { try await client.properties(of: path, Interface.item) }
        await #expect(throws: BusError.noSuchObject) { try await client.items(of: path) }
        await #expect(throws: BusError.noSuchObject) { try await client.deleteCollection(path) }
        await #expect(throws: BusError.noSuchObject) { try await client.introspect(path) }
    }

    @Test(
        "#44 any other path is UnknownObject",
        arguments: [
            "/org/freedesktop/secrets/session/none", "/org/freedesktop/secrets/prompt/none",
            "/org/freedesktop/secrets/prompt/1/1", "/org/freedesktop/secrets/other", "/other", "/org/other",
        ]
    )
    func unknownPath_isUnknownObject(path: String) async throws {
        let (client, _) = try await SharedService.client()
        let path = ObjectPath(unchecked: path)
        await #expect(throws: BusError.unknownObject) { try await client.closeSession(path) }
        await #expect(throws: BusError.unknownObject) { try await client.show(path) }
        await #expect(throws: BusError.unknownObject) { try await client.introspect(path) }
    }

    @Test("#44 #47 an unknown method, interface or property has its own error")
    func unknownMember_hasItsError() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        await #expect(throws: BusError.unknownMethod) { try await client.call(item, Interface.item, "Nothing") }
        await #expect(throws: BusError.unknownInterface) {
            try await client.call(item, Interface.collection, "Delete")
        }
        await #expect(throws: BusError.unknownProperty) {
            try await client.property("Nothing", of: item, Interface.item, as: String.self)
        }
        await #expect(throws: BusError.unknownInterface) {
            try await client.property("Label", of: item, Interface.collection, as: String.self)
        }
        await #expect(throws: BusError.unknownInterface) {
            try await client.properties(of: item, "org.example.Nothing")
        }
    }

    @Test("#47 setting a read-only property is PropertyReadOnly")
    func readOnlyProperty_cannotBeSet() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        for (name, path, interface) in [
            ("Locked", item, Interface.item), ("Created", item, Interface.item), ("Modified", item, Interface.item),
            ("Items", .login, Interface.collection), ("Locked", .login, Interface.collection),
            ("Created", .login, Interface.collection), ("Modified", .login, Interface.collection),
            ("Collections", .service, Interface.service),
        ] as [(String, ObjectPath, String)] {
            await #expect(throws: BusError.propertyReadOnly) {
                try await client.setProperty(name, of: path, interface, to: .boolean(true))
            }
        }
    }

    @Test("#45 a property or argument of a wrong type is InvalidArgs and changes nothing")
    func wrongType_isInvalidArgs() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["wrong": "types"], session: session)
        let secret = WireSecret(session: session, value: [1])
        for properties in [
            ["\(Interface.item).Label": .uint32(1)], ["\(Interface.item).Attributes": .string("a")],
            ["\(Interface.item).Attributes": .strings(["a"])], ["\(Interface.item).Type": .boolean(true)],
        ] as [[String: Variant]] {
            await #expect(throws: BusError.invalidArgs) {
                try await client.createItem(properties: properties, secret: secret)
            }
        }
        await #expect(throws: BusError.invalidArgs) {
            try await client.createCollection(["\(Interface.collection).Label": .uint32(1)])
        }
        for (name, value) in [
            ("Label", .uint32(1)), ("Label", .objectPath(.root)), ("Attributes", .string("a")),
            ("Attributes", .strings([])), ("Type", .uint64(1)),
        ] as [(String, Variant)] {
            await #expect(throws: BusError.invalidArgs) {
                try await client.setProperty(name, of: item, Interface.item, to: value)
            }
        }
        let audit = ObjectPath(unchecked: "/org/keychaind/Audit")
        await #expect(throws: BusError.invalidArgs) {
            try await client.call(audit, "org.keychaind.Audit1", "Read", "all")
        }
        for member in ["OpenSession", "CreateCollection", "SearchItems", "Unlock", "Lock", "GetSecrets", "ReadAlias"] {
            await #expect(throws: BusError.invalidArgs) {
                try await client.call(.service, Interface.service, member, UInt32(1))
            }
        }
        #expect(try await client.attributes(of: item) == ["wrong": "types"])
        #expect(try await client.label(of: item) == "label")
    }

    @Test("#82 gnome-keyring's additions to the service are UnknownMethod")
    func foreignAdditions_areUnknown() async throws {
        let (client, _) = try await SharedService.client()
        await #expect(throws: BusError.unknownMethod) {
            try await client.call(.service, Interface.service, "LockService")
        }
        await #expect(throws: BusError.unknownMethod) {
            try await client.call(.service, Interface.service, "ChangeLock", ObjectPath.login)
        }
        await #expect(throws: BusError.unknownInterface) {
            try await client.call(.service, "org.gnome.keyring.Daemon", "GetEnvironment")
        }
    }
}
