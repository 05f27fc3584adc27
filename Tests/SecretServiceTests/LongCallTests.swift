import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// Calls about many objects.
@Suite(.onLoop)
struct LongCallTests {
    private typealias Interface = SecretServiceProxy.Interface
    private typealias Scene = LongCallScene

    @Test
    @BusActor
    func getSecrets_samePathTwice_isAnsweredOnce() async throws {
        let scene = try await Scene(in: .login)
        let client = scene.service.client
        let session = try await client.openPlainSession()
        let reply = try await client.call(.service, Interface.service, "GetSecrets", scene.items + scene.items, session)
        var paths: [ObjectPath] = []
        var reader = reply.makeReader()
        try reader.readDictionary { (reader) throws(BusError) in
            paths.append(try ObjectPath(from: &reader))
            reader.skip()
        }
        #expect(paths == scene.items)
    }

    @Test
    @BusActor
    func searchItems_inTwoCollections_areSortedTogether() async throws {
        let scene = try await Scene(in: .login)
        let client = scene.service.client
        let plain = try await client.openPlainSession()
        let other = try await client.createItem(in: .sessionCollection, "label", ["of": "scene"], session: plain)
        try await client.setSecret(WireSecret(session: plain, value: [1]), of: scene.items[0])
        let search = Message.toService(.service, Interface.service, "SearchItems", ["of": "scene"])
        let (unlocked, locked) = try await scene.reply(to: search)
            .read([ObjectPath].self, [ObjectPath].self)
        #expect(unlocked == [scene.items[0], other] + scene.items.dropFirst().reversed())
        #expect(locked.isEmpty)
    }

    @Test
    @BusActor
    func callerLeaves_nextIsAnswered() async throws {
        let scene = try await Scene(in: .login)
        let reply = try await scene.replyAfterLeaving([
            scene.secretsCall, Message.toService(.service, Interface.service, "SearchItems", ["of": "scene"]),
            Message.toService(.service, Interface.service, "Unlock", scene.items),
        ])
        #expect(try reply.read([ObjectPath: WireSecret].self).count == Scene.count)
    }

    @Test
    @BusActor
    func lists_ofTooManyObjects_areRefused() async throws {
        let scene = try await Scene(in: .login, objectsPerCall: Scene.count - 1)
        let calls = [
            scene.secretsCall, Message.toService(.service, Interface.service, "Unlock", scene.items),
            Message.toService(.service, Interface.service, "Lock", scene.items), scene.call("Get", scene.items),
            scene.confirmation, try await scene.contextUnlock(), try await scene.authorization(),
        ]
        for call in calls {
            #expect(try await scene.reply(to: call).error?.name == .limitsExceeded)
        }
    }

    @Test
    @BusActor
    func context_samePathTwice_isDoneOnce() async throws {
        let scene = try await Scene(in: .login)
        for call in [try await scene.contextUnlock(times: 2), try await scene.authorization(times: 2)] {
            let (done, prompt) = try await scene.reply(to: call)
                .read([ObjectPath].self, ObjectPath.self)
            #expect(done == scene.items && prompt == .root)
        }
    }
}
