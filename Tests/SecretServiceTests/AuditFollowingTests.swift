import KeychaindDBus
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
            let client = service.client
            #expect(try await client.follow() == [])
            async let first = client.follow()
            async let second = client.follow()
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            var results: [Result<[ReadEntry], any Error>] = []
            do { results.append(.success(try await first)) } catch { results.append(.failure(error)) }
            do { results.append(.success(try await second)) } catch { results.append(.failure(error)) }
            let entries = results.compactMap { try? $0.get() }
            #expect(entries.map { $0.map(\.item) } == [[item.rawValue]])
        }
    }

    @Test("clients past the limit are refused until one leaves")
    func follow_pastTheLimit_isRefused() async throws {
        try await RunningService.withService { service in
            var followers: [SecretServiceProxy] = []
            for _ in 0..<AuditFollowers.limit {
                let follower = try await service.makeClient()
                #expect(try await follower.follow() == [])
                followers.append(follower)
            }
            await #expect(throws: BusError(.limitsExceeded, "")) { _ = try await service.client.follow() }
            await followers.removeLast().disconnect()
            var isRefused = true
            while isRefused { isRefused = (try? await service.client.follow()) == nil }
        }
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
        #expect(entries.last?.kind == .lost)
        #expect(entries.last?.outcome == "7 entries were lost")
        followers.leave(":1.1")
        #expect(followers.isEmpty)
    }
}

extension SecretServiceProxy {
    fileprivate func follow() async throws(BusError) -> [ReadEntry] {
        let message = try await connection.call(
            .call(to: "org.freedesktop.secrets", AuditTests.path, AuditTests.interface, "Follow"),
            timeout: Patience.limit
        )
        return try message.read([FollowedEntry].self).map(\.entry)
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
