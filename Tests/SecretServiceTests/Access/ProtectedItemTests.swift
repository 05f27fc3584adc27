import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A protected item is locked for every caller without a grant.
struct ProtectedItemTests {
    @Test("#131 without an authentication, every answer shows a protected item as locked")
    func protectedItem_withoutGrant_isLockedInEveryAnswer() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = ["case": "every answer"]
        let item = try await client.createProtectedItem("Bank", attributes, session: session)
        let plain = try await client.createItem("plain", attributes, session: session)
        #expect(try await client.isItemLocked(item))
        #expect(try await !client.isItemLocked(plain))
        let properties = try await client.properties(of: item, Interface.item)
        #expect(properties["Locked"] == .boolean(true) && properties["Label"] == .string("Bank"))
        let hits = try await client.searchItems(attributes)
        #expect(hits.unlocked == [plain] && hits.locked == [item])
        #expect(try await Set(client.searchItems(attributes, in: .login)) == [item, plain])
        await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        #expect(try await Set(client.secrets(of: [item, plain], session: session).keys) == [plain])
    }

    @Test("a search finds a protected item by its reserved attributes")
    func protectedItem_isFoundByItsReservedAttributes() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createProtectedItem("found", ["case": "reserved"], session: session)
        let query = ["case": "reserved", Reserved.accessControl: "userPresence"]
        #expect(try await client.searchItems(query).locked == [item])
        #expect(try await client.attributes(of: item) == query)
    }

    @Test("setting a property without a grant is IsLocked", arguments: ["Label", "Attributes", "Type"])
    func setProperty_withoutGrant_isLocked(name: String) async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createProtectedItem("set", ["case": "set \(name)"], session: session)
        let value: Variant = name == "Attributes" ? .stringDictionary(["case": "set \(name)"]) : .string("x")
        let before = try await client.properties(of: item, Interface.item)
        await #expect(throws: BusError.isLocked) {
            try await client.setProperty(name, of: item, Interface.item, to: value)
        }
        #expect(try await client.properties(of: item, Interface.item) == before)
    }

    @Test("SetSecret without a grant is IsLocked")
    func setSecret_withoutGrant_isLocked() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createProtectedItem("set", ["case": "set secret"], session: session)
        await #expect(throws: BusError.isLocked) {
            try await client.setSecret(WireSecret(session: session, value: [1]), of: item)
        }
    }

    @Test(
        "an invalid reserved attribute is InvalidArgs and stores nothing",
        arguments: [
            (Reserved.accessControl, "userPresense"), (Reserved.accessControl, ""),
            (Reserved.accessControl, "userPresence or"), (Reserved.accessControl, String(repeating: "(", count: 300)),
            (Reserved.accessible, "whenever"), ("keychain:synchronizable", "maybe"), ("keychain:access-group", ""),
        ]
    )
    func badReservedAttribute_isInvalid_andNothingIsStored(name: String, value: String) async throws {
        let (client, session) = try await SharedService.client()
        let mark = "bad \(name) \(value)"
        let properties = SecretServiceProxy.itemProperties(label: "bad", ["mark": mark, name: value])
        let secret = WireSecret(session: session, value: [1])
        await #expect(throws: BusError.invalidArgs) {
            try await client.createItem(properties: properties, secret: secret)
        }
        #expect(try await client.searchItems(["mark": mark]).unlocked.isEmpty)
        let item = try await client.createItem("good", ["mark": mark], session: session)
        await #expect(throws: BusError.invalidArgs) {
            try await client.setProperty(
                "Attributes",
                of: item,
                Interface.item,
                to: .stringDictionary(["mark": mark, name: value])
            )
        }
        #expect(try await client.attributes(of: item) == ["mark": mark])
    }

    @Test(
        "contradictory reserved attributes are InvalidArgs",
        arguments: [
            [Reserved.accessible: "whenUnlockedThisDeviceOnly", "keychain:synchronizable": "true"],
            [Reserved.accessControl: "userPresence or applicationPassword"],
        ]
    )
    func contradiction_isInvalid(attributes: [String: String]) async throws {
        let (client, session) = try await SharedService.client()
        await #expect(throws: BusError.invalidArgs) {
            try await client.createItem("contradiction", attributes, session: session)
        }
    }

    @Test("an unknown reserved name is kept")
    func unknownReservedName_isKept() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = ["keychain:class": "generic-password", "case": "unknown name"]
        let item = try await client.createItem("class", attributes, session: session)
        #expect(try await client.attributes(of: item) == attributes)
        #expect(try await !client.isItemLocked(item))
    }

    @Test("adding protection to a plain item needs no authentication")
    func protection_addedToAPlainItem_needsNoAuthentication() async throws {
        let (client, session) = try await SharedService.client()
        let other = try await SharedService.get().makeClient()
        let item = try await client.createItem("plain", ["case": "added"], session: session)
        try await client.setProperty(
            "Attributes",
            of: item,
            Interface.item,
            to: .stringDictionary(["case": "added", Reserved.accessControl: "userPresence"])
        )
        await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        try await other.roundTrip()
        #expect(other.lockNotices(of: item) == [true])
    }
}
