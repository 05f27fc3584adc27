import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// `Change` of `org.keychaind.Item1`.
struct ItemChangeTests {
    @Test("label, attributes and secret change as far as they are given")
    func change_setsWhatIsGiven() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("Old", ["change": "1"], secret: "old", session: session)
        try await client.change(item, label: "New", ["change": "2"], "new", in: session)
        #expect(try await client.label(of: item) == "New")
        #expect(try await client.searchItems(["change": "2"]).unlocked == [item])
        #expect(try await client.secretText(of: item, session: session) == "new")
        try await client.change(item, nil, "newer", in: session)
        try await client.change(item, label: "Newer", in: session)
        #expect(try await client.label(of: item) == "Newer")
        #expect(try await client.attributes(of: item) == ["change": "2"])
        #expect(try await client.secretText(of: item, session: session) == "newer")
    }

    @Test("a part that is refused leaves the others unchanged")
    func change_invalidPart_changesNothing() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("Old", ["change": "3"], secret: "old", session: session)
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await client.change(item, label: "New", [Reserved.accessControl: "nonsense"], "new", in: session)
        }
        await #expect(throws: BusError(.noSession, "")) {
            let other = ObjectPath(unchecked: "/org/freedesktop/secrets/session/4711")
            try await client.change(item, label: "New", ["change": "4"], "new", in: other)
        }
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await client.change(item, ["org.freedesktop.Secret.Item.Created": .uint64(1)], [])
        }
        let secret = WireSecret(session: session, value: [1])
        await #expect(throws: BusError(.limitsExceeded, "")) { try await client.change(item, [:], [secret, secret]) }
        #expect(try await client.label(of: item) == "Old")
        #expect(try await client.attributes(of: item) == ["change": "3"])
        #expect(try await client.secretText(of: item, session: session) == "old")
    }

    @Test("a protected item asks once for all, and a dismissal changes nothing")
    func change_protected_asksOnce() async throws {
        let responses: [PromptResponse] = [.answer("password"), .cancel, .answer("password")]
        try await RunningService.withPrompter(responses) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            await #expect(throws: BusError.self) { try await client.change(item, label: "New", in: session) }
            _ = try await service.unlock([item], as: client)
            let attributes = ["service": "bank", "more": "1", Reserved.accessControl: "userPresence"]
            await #expect(throws: BusError.self) {
                try await client.change(item, label: "New", attributes, "new", in: session)
            }
            #expect(try await client.label(of: item) == "Bank")
            try await client.change(item, label: "New", attributes, "new", in: session)
            #expect(prompter.questions.all.count == 3)
            #expect(try await client.label(of: item) == "New")
            #expect(try await client.secretText(of: item, session: session) == "new")
            let kinds = try await service.waitForEntries { $0.contains { $0.kind == "change" } }.map(\.kind)
            #expect(kinds.count { $0 == "change" } == 1)
        }
    }
}

extension SecretServiceProxy {
    fileprivate func change(
        _ item: ObjectPath,
        label: String? = nil,
        _ attributes: [String: String]? = nil,
        _ secret: String? = nil,
        in session: ObjectPath
    ) async throws(BusError) {
        var properties: [String: Variant] = [:]
        properties["org.freedesktop.Secret.Item.Label"] = label.map(Variant.string)
        properties["org.freedesktop.Secret.Item.Attributes"] = attributes.map(Variant.stringDictionary)
        try await change(item, properties, secret.map { [WireSecret(session: session, value: Array($0.utf8))] } ?? [])
    }

    fileprivate func change(
        _ item: ObjectPath,
        _ properties: [String: Variant],
        _ secret: [WireSecret]
    ) async throws(BusError) {
        try await call(item, "org.keychaind.Item1", "Change", properties, secret)
    }
}
