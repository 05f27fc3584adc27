import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Programs with several connections, beside another one.
@Suite(.onLoop)
struct ProgramTests {
    private static let memory = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/session")

    private static func collection(_ label: String) -> [String: Variant] {
        SecretServiceProxy.collectionProperties(label: label)
    }

    @Test("the dialog of another program comes after at most one of a program's that wait, on all its connections")
    @BusActor
    func dialogs_ofManyConnections_takeTurnsWithAnothers() async throws {
        let programs = InspectedPrograms(["greedy", "greedy", "greedy", "greedy", "modest"])
        let service = try await ProviderInProcess(inspection: programs.inspection)
        let prompter = try FakePrompter(on: service.bus, [.hang])
        defer { prompter.crash() }
        var prompts: [String: (client: SecretServiceProxy, path: ObjectPath)] = [:]
        for label in (0..<4).map({ "greedy \($0)" }) + ["modest"] {
            let client = try await programs.connect(to: service.bus)
            let path = try await client.createCollection(Self.collection(label)).prompt
            try await client.show(path)
            prompts[label] = (client, path)
        }
        for (number, label) in ["greedy 0", "greedy 1", "modest"].enumerated() {
            let question = try await prompter.questions.first("a question", after: number)
            #expect(question.text("message")?.contains(label) == true)
            let prompt = try #require(prompts[label])
            try await prompt.client.dismiss(prompt.path)
        }
        await service.vault.close()
    }

    @Test("a program on many connections, one after the other too, leaves others room in the collection in memory")
    @BusActor
    func collectionInMemory_isSharedBetweenPrograms() async throws {
        let programs = InspectedPrograms(["greedy", "greedy", "modest", "greedy"])
        let service = try await ProviderInProcess(inspection: programs.inspection)
        let large = [UInt8](repeating: 1, count: 16 << 20)
        func store(_ name: String, by client: SecretServiceProxy) async throws -> ObjectPath {
            let secret = WireSecret(session: try await client.openPlainSession(), value: large)
            let properties = SecretServiceProxy.itemProperties(label: name, ["n": name])
            return try await client.createItem(in: Self.memory, properties: properties, secret: secret).item
        }
        let first = try await programs.connect(to: service.bus)
        let item = try await store("first", by: first)
        let second = try await programs.connect(to: service.bus)
        await #expect(throws: BusError.limitsExceeded) { _ = try await store("second", by: second) }
        let modest = try await programs.connect(to: service.bus)
        _ = try await store("modest", by: modest)
        first.disconnect()
        second.disconnect()
        let third = try await programs.connect(to: service.bus)
        await #expect(throws: BusError.limitsExceeded) { _ = try await store("third", by: third) }
        #expect(try await third.deleteItem(item) == .root)
        _ = try await store("third", by: third)
        await service.vault.close()
    }

    @Test("#48 a program that asks for large secrets on many connections lets another have its turn")
    @BusActor
    func largeAnswers_onManyConnections_letOthersHaveTheirTurn() async throws {
        let programs = InspectedPrograms(["modest", "greedy"])
        let service = try await ProviderInProcess(inspection: programs.inspection)
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let client = try await programs.connect(to: service.bus)
        let session = try await client.openPlainSession()
        let secret = WireSecret(session: session, value: [UInt8](repeating: 1, count: 1 << 20))
        let large = try await client.createItem(properties: [:], secret: secret).item
        let small = try await client.createItem(secret: String(repeating: "s", count: 6000), session: session)
        var greedy: [(client: SecretServiceProxy, session: ObjectPath)] = []
        for _ in 0..<20 {
            let client = try await programs.connect(to: service.bus)
            greedy.append((client, try await client.openPlainSession()))
        }
        let (name, greedyNames) = (client.connection.uniqueName, Set(greedy.map(\.client.connection.uniqueName)))
        let monitor = try RawClient(service.bus.address)
        try await monitor.monitor()
        let messages = Task { await monitor.messages { $0.member == nil && $0.receiver == name } }
        let calls = greedy.flatMap { connection in
            (0..<3).map { _ in
                Task { @BusActor in _ = try await connection.client.secret(of: large, session: connection.session) }
            }
        }
        // The calls are sent during the first question to the bus, and lie before the other's call at the second.
        for _ in 0..<2 { try await greedy[19].client.roundTrip() }
        #expect(try await client.secretText(of: small, session: session).count == 6000)
        for call in calls { try await call.value }
        let passed = await messages.value
        let question = try #require(passed.firstIndex { $0.sender == name && $0.member == "GetSecret" })
        let earlier = passed[question...].count { message in
            message.member == nil && message.receiver.map(greedyNames.contains) == true
        }
        #expect(earlier <= 10)
        await service.vault.close()
    }

    @Test("prompts, contexts and sessions are limited for all connections of a program, and given back")
    @BusActor
    func limits_areThoseOfAProgram() async throws {
        let programs = InspectedPrograms(["greedy", "greedy", "greedy", "greedy", "modest", "greedy"])
        var limits = ServiceLimits.patient
        (limits.prompts, limits.contexts, limits.sessions, limits.timesForProgram) = (2, 2, 3, 2)
        let service = try await ProviderInProcess(limits: limits, inspection: programs.inspection)
        func connect() async throws -> SecretServiceProxy { try await programs.connect(to: service.bus) }
        let first = try await connect()
        _ = try await first.openPlainSession()
        let session = try await first.openPlainSession()
        let others = [try await connect(), try await connect()]
        for client in [first] + others.dropLast() {
            for _ in 0..<2 {
                _ = try await client.createCollection(Self.collection("greedy"))
                _ = try await ContextClient(client)
            }
        }
        let last = try #require(others.last)
        await #expect(throws: BusError.limitsExceeded) {
            _ = try await last.createCollection(Self.collection("greedy"))
        }
        await #expect(throws: BusError.limitsExceeded) { _ = try await ContextClient(last) }
        // The first has three sessions, and the others three together: a further one ends the oldest of the first.
        _ = try await last.openPlainSession()
        #expect(try await first.introspect(session.parent).children.count == 3)
        _ = try await connect()
        #expect(try await first.introspect(session.parent).children.count == 2)
        let modest = try await connect()
        _ = try await modest.createCollection(Self.collection("modest"))
        _ = try await ContextClient(modest)
        first.disconnect()
        let again = try await connect()
        _ = try await again.createCollection(Self.collection("greedy"))
        _ = try await ContextClient(again)
        await service.vault.close()
    }

    @Test("#48 calls that wait are limited for all connections of a program")
    @BusActor
    func waitingCalls_areThoseOfAProgram() async throws {
        let programs = InspectedPrograms(["greedy", "greedy", "greedy", "modest", "other"])
        var limits = ServiceLimits.patient
        (limits.waitingCalls, limits.timesForProgram) = (1, 2)
        let service = try await ProviderInProcess(limits: limits, inspection: programs.inspection)
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        var clients: [SecretServiceProxy] = []
        for _ in 0..<4 {
            let client = try await programs.connect(to: service.bus)
            _ = try await client.follow()
            clients.append(client)
        }
        // Each waits for an event.
        var following: [Task<Int, any Error>] = []
        for client in [clients[0], clients[1], clients[3]] {
            following.append(Task { @BusActor in try await client.follow().count })
            try await client.roundTrip()
        }
        await #expect(throws: BusError.limitsExceeded) { try await clients[2].follow() }
        let session = try await service.client.openPlainSession()
        _ = try await service.client.createProtectedItem(session: session)
        for call in following { #expect(try await call.value == 1) }
        #expect(try await clients[2].follow().count == 1)
        await service.vault.close()
    }
}
