import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import Synchronization
import Testing

/// What a program hears while it waits for its prompt beside a sandbox, as signals are then sent to each client.
@Suite(.onLoop)
struct DeferredSignalTests {
    private typealias Interface = SecretServiceProxy.Interface

    @Test(
        "#122 beside a sandbox, the first signal to a program without a cache of properties is Completed",
        arguments: [false, true]
    )
    @BusActor
    func unlock_besideASandbox_completedComesFirst(cachesProperties: Bool) async throws {
        let scene = try await Scene()
        let client = scene.client
        if cachesProperties { _ = try await client.properties(of: .service, Interface.service) }
        #expect(try await scene.service.unlock([.answer(ProviderInProcess.password)]).isOpen)
        try await client.roundTrip()
        let members = client.signals.all.map(\.member)
        let completed = try #require(members.firstIndex(of: "Completed"))
        let changed = try #require(members.firstIndex(of: "PropertiesChanged"))
        #expect((changed < completed) == cachesProperties)
    }

    @Test("What waits for Completed is sent before the signals that are broadcast again")
    @BusActor
    func sandboxLeaves_whatWaited_comesFirst() async throws {
        let scene = try await Scene()
        let (client, other) = (scene.client, scene.other)
        let prompter = try FakePrompter(on: scene.service.bus, [.hang])
        defer { prompter.crash() }
        try await client.show(try await client.unlock([.login]).prompt)
        _ = try await prompter.questions.first("the question") { _ in true }
        let session = try await other.openPlainSession()
        var items: [String] = []
        let create = { @BusActor () async throws in
            let attributes = ["n": "\(items.count)"]
            items.append(
                try await other.createItem(in: .sessionCollection, "item", attributes, session: session).rawValue
            )
            try await client.roundTrip()
        }
        try await create()
        #expect(client.signals.count == 0)
        scene.sandboxed.disconnect()
        try await eventually("a broadcast") {
            try await create()
            return client.signals.count > 0
        }
        let created = client.signals.all.filter { $0.member == "ItemCreated" }.compactMap(\.objectPath)
        #expect(created == items)
    }

    /// A locked `login`, two programs, and one in a sandbox.
    @BusActor
    private final class Scene {
        let service: ProviderInProcess
        let other: SecretServiceProxy
        let sandboxed: SecretServiceProxy
        var client: SecretServiceProxy { service.client }

        init() async throws {
            let confinement = Mutex(Confinement.none)
            service = try await ProviderInProcess { (_, _) throws(ExaminationObstacle) in confinement.withLock { $0 } }
            // A call is answered once its connection has been looked at.
            _ = try await service.client.readAlias("login")
            other = try SecretServiceProxy(on: service.bus)
            _ = try await other.readAlias("login")
            confinement.withLock { $0 = .sandbox(.flatpak("org.example.Chat")) }
            sandboxed = try SecretServiceProxy(on: service.bus)
            _ = try await sandboxed.readAlias("login")
            confinement.withLock { $0 = .none }
        }
    }
}
