import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Bursts of changes whose signals are large, beside several programs in a sandbox, each of which gets them.
@Suite(.onLoop)
struct SignalRoomTests {
    private typealias Interface = SecretServiceProxy.Interface

    /// So few that the socket of the service has room for the calls.
    private static let changes = 40

    @Test("A burst of changes stops no calls of other programs")
    @BusActor
    func burst_signalsAreNotTaken_callsOfOthersAreHandled() async throws {
        let scene = try await Scene(in: .sessionCollection, items: 1)
        let server = try #require(scene.service.connection.server)
        let before = server.callCount
        for number in 0..<Self.changes { scene.busy.send(scene.change(scene.items[0], number)) }
        try scene.busy.waitForBus()
        for _ in 0..<Self.changes {
            scene.other.send(Message.toService(.service, Interface.service, "ReadAlias", "login"))
        }
        try scene.other.waitForBus()
        scene.service.bus.pause()
        defer { scene.service.bus.resume() }
        try await eventually("all calls are handled") { server.callCount == before + UInt64(2 * Self.changes) }
        #expect(scene.service.connection.bytesToSend < 4 << 20)
        scene.service.bus.resume()
        #expect(await scene.other.replies(Self.changes).compactMap(\.error) == [])
        #expect(await scene.busy.replies(Self.changes).compactMap(\.error) == [])
    }

    @Test("Changes that wait for the disk together are told one after another")
    @BusActor
    func burst_inOneCommit_fillsNoQueue() async throws {
        let scene = try await Scene(in: .login, items: Self.changes)
        let connection = scene.service.connection
        for (number, item) in scene.items.enumerated() { scene.busy.send(scene.change(item, number)) }
        try scene.busy.waitForBus()
        var (replies, most) = ([Message](), 0)
        while replies.count < Self.changes {
            replies += await scene.busy.replies(1)
            most = max(most, connection.bytesToSend)
        }
        #expect(replies.compactMap(\.error) == [])
        #expect(most < 4 << 20)
    }

    @Test("A change whose disk does not answer keeps no room from others")
    @BusActor
    func change_doesNotEnd_othersBegin() async throws {
        let service = try await ProviderInProcess()
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let session = try await service.client.openPlainSession()
        let admission = try #require(service.vault.admission)
        let all = 1 << 20
        let first = await admission.begin(all)
        _ = try await service.client.createItem(in: .login, "beside it", ["n": "1"], session: session)
        // Its signals take their room when it ends, and give it back.
        let second = await admission.begin(all)
        admission.end(first)
        admission.end(second)
        _ = try await service.client.createItem(in: .login, "after it", ["n": "2"], session: session)
    }

    @BusActor
    private final class Scene {
        let service: ProviderInProcess
        let items: [ObjectPath]
        let busy: RawClient
        let other: RawClient
        private let listeners: [RawClient]

        init(in collection: ObjectPath, items count: Int) async throws {
            service = try await ProviderInProcess(confinement: .sandbox(.flatpak("org.example.Chat")))
            try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
            let creator = service.client
            let session = try await creator.openPlainSession()
            let text = String(repeating: "x", count: 64 << 10)
            var items: [ObjectPath] = []
            for number in 0..<count {
                let attributes = ["n": "\(number)", "text": text]
                items.append(try await creator.createItem(in: collection, "label", attributes, session: session))
            }
            self.items = items
            var listeners: [RawClient] = []
            for _ in 0..<8 { listeners.append(try await Scene.client(of: service.bus)) }
            self.listeners = listeners
            busy = try await Scene.client(of: service.bus)
            other = try await Scene.client(of: service.bus)
        }

        /// A client that the service knows.
        private static func client(of bus: PrivateBus) async throws -> RawClient {
            let client = try RawClient(bus.address)
            client.send(.toService(.service, Interface.service, "ReadAlias", "login"))
            #expect(await client.replies(1).compactMap(\.error) == [])
            return client
        }

        /// A small call, after which all attributes are told.
        func change(_ item: ObjectPath, _ number: Int) -> Message {
            Message.toService(
                item,
                StandardInterface.properties,
                "Set",
                Interface.item,
                "Type",
                Variant.string("\(number)")
            )
        }
    }
}
