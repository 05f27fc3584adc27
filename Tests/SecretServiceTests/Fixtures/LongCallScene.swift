import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// Many items, and the calls about all of them.
@BusActor
final class LongCallScene {
    private typealias Interface = SecretServiceProxy.Interface

    nonisolated static let count = 60

    let service: ProviderInProcess
    let items: [ObjectPath]
    private let client: RawClient
    private let other: RawClient
    let session: ObjectPath
    let otherSession: ObjectPath

    /// - Parameter added: attributes that each of the items has, too.
    init(
        in collection: ObjectPath,
        _ added: [String: String] = [:],
        objectsPerCall: Int = 100_000,
        clock: BootClock = .system
    ) async throws {
        var limits = ServiceLimits.patient
        limits.objectsPerCall = objectsPerCall
        service = try await ProviderInProcess(limits: limits, clock: clock)
        #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
        let creator = service.client
        let plain = try await creator.openPlainSession()
        var items: [ObjectPath] = []
        for number in 0..<LongCallScene.count {
            let attributes = ["of": "scene", "n": "\(number)"].merging(added) { $1 }
            items.append(try await creator.createItem(in: collection, "label", attributes, session: plain))
        }
        self.items = items
        (client, session) = try await LongCallScene.client(of: service.bus)
        (other, otherSession) = try await LongCallScene.client(of: service.bus)
    }

    private static func client(of bus: PrivateBus) async throws -> (RawClient, ObjectPath) {
        let client = try RawClient(bus.address)
        client.send(.toService(.service, Interface.service, "OpenSession", "plain", Variant.string("")))
        let reply = try #require(await client.replies(1).first)
        return (client, try reply.read(Variant.self, ObjectPath.self).1)
    }

    var secretsCall: Message { secretsCall(in: session) }

    private func secretsCall(in session: ObjectPath) -> Message {
        Message.toService(.service, Interface.service, "GetSecrets", items, session)
    }

    /// A call of `Search1` about items, without their secrets.
    func call(_ member: String, _ items: [ObjectPath]) -> Message {
        Message.toService(.service, "org.keychaind.Search1", member, items, ObjectPath.root)
    }

    /// The call that gives all items to a sandboxed program.
    var confirmation: Message {
        let sandboxes = ObjectPath(unchecked: "/org/freedesktop/secrets/sandboxes")
        return Message.toService(sandboxes, "org.keychaind.Sandboxes1", "Confirm", "flatpak:org.example.App", items)
    }

    /// An Unlock of all items in a new context.
    func contextUnlock(times: Int = 1) async throws -> Message {
        Message.toService(try await makeContext(), ContextClient.contextInterface, "Unlock", list(times))
    }

    /// The call that has the deletion of all items authorised in a new context.
    func authorization(times: Int = 1) async throws -> Message {
        Message.toService(
            try await makeContext(),
            ContextClient.contextInterface,
            "Authorize",
            "delete",
            list(times)
        )
    }

    private func list(_ times: Int) -> [ObjectPath] { (0..<times).flatMap { _ in items } }

    private func makeContext() async throws -> ObjectPath {
        client.send(Message.toService(ContextClient.authentication, ContextClient.interface, "CreateContext"))
        return try #require(await client.replies(1).first).read(ObjectPath.self)
    }

    /// Leaves with calls in flight, and asks for all secrets as the other program.
    func replyAfterLeaving(_ calls: [Message]) async throws -> Message {
        calls.forEach(client.send)
        try client.waitForBus()
        client.close()
        other.send(secretsCall(in: otherSession))
        return try #require(await other.replies(1).first)
    }

    func reply(to call: Message) async throws -> Message {
        client.send(call)
        return try #require(await client.replies(1).first)
    }

    /// Runs a prompt; returns whether it was dismissed, and its result.
    func completion(of prompt: ObjectPath) async throws -> (Bool, Variant) {
        client.send(Message.toService(prompt, Interface.prompt, "Prompt", ""))
        let messages = await client.messages { $0.path == prompt.rawValue && $0.member == "Completed" }
        return try #require(messages.last).read(Bool.self, Variant.self)
    }
}
