import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// `Follow` of `org.keychaind.Audit1`.
struct AuditFollowingTests {
    @Test("each event comes at once and alone, to the client that follows")
    func follow_events_comeOneByOne() async throws {
        try await RunningService.withService { service in
            let follower = try await service.makeClient()
            #expect(try await follower.follow() == [])
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem(session: session)
            for _ in 0..<3 {
                await #expect(throws: BusError.self) { _ = try await service.client.secret(of: item, session: session) }
            }
            var entries: [ReadEntry] = []
            while entries.count < 4 { entries += try await follower.follow() }
            #expect(entries.map(\.kind) == ["access-control-change", "denial", "denial", "denial"])
            #expect(entries.map(\.outcome) == ["success", "notInteractive", "notInteractive", "notInteractive"])
            #expect(entries.allSatisfy { $0.item == item.rawValue })
            let other = try await service.makeClient()
            #expect(try await other.follow() == [])
        }
    }

    @Test("a later call ends the one that waits")
    func follow_twice_endsTheFirst() async throws {
        try await RunningService.withService { service in
            let follower = try RawClient(service.bus.address)
            follower.send(.follow)
            #expect(try await follower.replies(1).map { try $0.read([FollowedEntry].self).count } == [0])
            follower.send(.follow)
            follower.send(.follow)
            // The bus passes both on before what the other client sends next.
            try follower.waitForBus()
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem(session: session)
            let replies = await follower.replies(2)
            #expect(replies.map { $0.error?.name } == [.failed, nil])
            let entries = try replies.last?.read([FollowedEntry].self).map(\.entry.item)
            #expect(entries == [item.rawValue])
        }
    }

    @Test("any number of clients hear of each event, also those that begin later or do not fetch")
    func follow_byMany_tellsAll() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            var followers: [SecretServiceProxy] = []
            for _ in 0..<40 {
                let follower = try await service.makeClient()
                #expect(try await follower.follow() == [])
                followers.append(follower)
            }
            let first = try await client.createProtectedItem("first", ["n": "1"], session: session)
            let heard = try await followers[0].follow().map(\.item)
            #expect(heard == [first.rawValue])
            let late = try await service.makeClient()
            #expect(try await late.follow() == [])
            let second = try await client.createProtectedItem("second", ["n": "2"], session: session)
            for (number, follower) in followers.enumerated() {
                var items = number == 0 ? heard : []
                while items.count < 2 { items += try await follower.follow().map(\.item) }
                #expect(items == [first.rawValue, second.rawValue])
            }
            #expect(try await late.follow().map(\.item) == [second.rawValue])
        }
    }

    @Test("a program that a person limits while it follows the audit hears no more of it", .onLoop)
    @BusActor
    func follow_programIsLimitedMeanwhile_isRefused() async throws {
        let service = try await ProviderInProcess.unconfirmed()
        #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
        let (client, other) = (service.client, try SecretServiceProxy(on: service.bus))
        #expect(try await client.follow() == [])
        let following = Task { @BusActor in try await client.follow() }
        // The call is sent during the first one and has arrived before the second answer.
        try await client.roundTrip()
        try await client.roundTrip()
        let prompter = try FakePrompter(on: service.bus, [.answer("")])
        let prompt = try await ProviderInProcess.limitingPrompt(of: other)
        #expect(try await other.complete(prompt).result == .boolean(true))
        prompter.crash()
        _ = try await other.createProtectedItem(session: try await other.openPlainSession())
        await #expect(throws: BusError.accessDenied) { try await following.value }
    }

    @Test("a client that does not fetch keeps a bounded number, and hears how many are missing", .onLoop)
    @BusActor
    func entries_notFetched_areBoundedAndCounted() async throws {
        let followers = AuditFollowers()
        #expect(try await followers.entries(for: ":1.1") == [])
        for number in 0..<AuditFollowers.entryLimit + 7 {
            followers.add(AuditEntry(time: Timestamp(seconds: UInt64(number)), kind: .denial))
        }
        let entries = try await followers.entries(for: ":1.1")
        #expect(entries.count == AuditFollowers.entryLimit + 1)
        #expect(entries.first?.kind == .lost)
        #expect(entries.first?.outcome == "7 entries were lost")
        let seconds = entries.dropFirst().map(\.time.seconds)
        #expect(seconds == (7..<UInt64(AuditFollowers.entryLimit) + 7).map { $0 })
        followers.add(AuditEntry(time: Timestamp(seconds: 1), kind: .denial))
        #expect(try await followers.entries(for: ":1.1").map(\.time.seconds) == [1])
        followers.leave(":1.1")
        #expect(followers.isEmpty)
    }
}

extension SecretServiceProxy {
    func follow() async throws(BusError) -> [ReadEntry] {
        try await connection.call(.follow, timeout: Patience.limit).read([FollowedEntry].self).map(\.entry)
    }
}

extension Message {
    fileprivate static var follow: Message {
        .call(to: "org.freedesktop.secrets", AuditTests.path, AuditTests.interface, "Follow")
    }
}

/// An entry with the rule that decided.
private struct FollowedEntry: BusValue {
    let entry: ReadEntry

    static var signature: String { "(tsssssss)" }

    init(from reader: inout Reader) throws(BusError) {
        entry = try reader.readStructure { (reader) throws(BusError) in
            let entry = try ReadEntry(fields: &reader)
            _ = try String(from: &reader)
            return entry
        }
    }

    func write(to writer: inout Writer) {}
}
