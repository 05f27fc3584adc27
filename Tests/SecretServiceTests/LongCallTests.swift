import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// Calls about many objects, which let other calls in between.
@Suite(.onLoop)
struct LongCallTests {
    private typealias Interface = SecretServiceProxy.Interface

    @Test
    @BusActor
    func getSecrets_changedInBetween_areNew_deletedAreLeftOut() async throws {
        let scene = try await Scene(in: .sessionCollection)
        let new = WireSecret(session: scene.otherSession, value: Array("new".utf8))
        // Both are read first.
        let reply = try await scene.reply(
            to: scene.secretsCall,
            meanwhile: [
                Message.toService(scene.items[0], Interface.item, "SetSecret", new),
                Message.toService(scene.items[1], Interface.item, "Delete"),
            ]
        )
        let secrets = try reply.read([ObjectPath: WireSecret].self)
        #expect(secrets[scene.items[0]]?.value == Array("new".utf8))
        #expect(Set(secrets.keys) == Set(scene.items).subtracting([scene.items[1]]))
    }

    @Test
    @BusActor
    func getSecrets_lockedInBetween_releasesNothing() async throws {
        let scene = try await Scene(in: .login)
        let lock = Message.toService(.service, Interface.service, "Lock", [ObjectPath.login])
        let reply = try await scene.reply(to: scene.secretsCall, meanwhile: [lock])
        #expect(try reply.read([ObjectPath: WireSecret].self).isEmpty)
    }

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

    @Test("A search finds the items that are left, with their secrets", arguments: [true, false])
    @BusActor
    func search_deletedInBetween(reads: Bool) async throws {
        let scene = try await Scene(in: .sessionCollection)
        let queries = [["of": "scene"]]
        let session = reads ? scene.session : .root
        let interface = "org.keychaind.Search1"
        let search = Message.toService(.service, interface, "Search", queries, session, UInt32(0), UInt32(0))
        let last = Message.toService(scene.items[Scene.count - 1], Interface.item, "Delete")
        let (rows, secrets) = try await scene.reply(to: search, meanwhile: [last])
            .read([FoundRow].self, [ObjectPath: WireSecret].self)
        #expect(rows.map(\.path) == scene.items.dropLast())
        #expect(Set(secrets.keys) == (reads ? Set(scene.items.dropLast()) : []))
    }

    @Test
    @BusActor
    func searchItems_deletedInBetween_isLeftOut() async throws {
        let scene = try await Scene(in: .sessionCollection)
        let attributes = ["of": "scene"]
        let gone = Message.toService(scene.items[Scene.count - 1], Interface.item, "Delete")
        let everywhere = Message.toService(.service, Interface.service, "SearchItems", attributes)
        let (unlocked, locked) = try await scene.reply(to: everywhere, meanwhile: [gone])
            .read([ObjectPath].self, [ObjectPath].self)
        #expect(unlocked == scene.items.dropLast().reversed() && locked.isEmpty)
        let there = Message.toService(.sessionCollection, Interface.collection, "SearchItems", attributes)
        let next = Message.toService(scene.items[0], Interface.item, "Delete")
        let found = try await scene.reply(to: there, meanwhile: [next]).read([ObjectPath].self)
        #expect(found == scene.items.dropLast().dropFirst().reversed())
    }

    @Test
    @BusActor
    func searchItems_lockedInBetween_tellsSo() async throws {
        let scene = try await Scene(in: .login)
        let lock = Message.toService(.service, Interface.service, "Lock", [ObjectPath.login])
        let search = Message.toService(.service, Interface.service, "SearchItems", ["of": "scene"])
        let (unlocked, locked) = try await scene.reply(to: search, meanwhile: [lock])
            .read([ObjectPath].self, [ObjectPath].self)
        #expect(unlocked.isEmpty && Set(locked) == Set(scene.items))
    }

    @Test
    @BusActor
    func searchItems_changesAgainAndAgain_endsAsOfTheLastOne() async throws {
        let scene = try await Scene(in: .sessionCollection)
        let search = Message.toService(.service, Interface.service, "SearchItems", ["of": "scene"])
        // More than the times that a search begins again.
        let deletions = scene.items.prefix(40).map { Message.toService($0, Interface.item, "Delete") }
        let (unlocked, _) = try await scene.reply(to: search, meanwhile: deletions)
            .read([ObjectPath].self, [ObjectPath].self)
        let kept = Set(scene.items.dropFirst(40))
        #expect(kept.isSubset(of: unlocked) && unlocked == unlocked.sorted { scene.isNewer($0, than: $1) })
    }

    @Test
    @BusActor
    func callerLeaves_itsLongCallEnds_nextIsAnswered() async throws {
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
            #expect(try await scene.reply(to: call, meanwhile: []).error?.name == .limitsExceeded)
        }
    }

    @Test
    @BusActor
    func unlock_lockedInBetween_promptsForTheRest() async throws {
        let scene = try await Scene(in: .login)
        let lock = Message.toService(.service, Interface.service, "Lock", [ObjectPath.login])
        let unlock = Message.toService(.service, Interface.service, "Unlock", scene.items)
        let (unlocked, prompt) = try await scene.reply(to: unlock, meanwhile: [lock])
            .read([ObjectPath].self, ObjectPath.self)
        #expect(unlocked.count < Scene.count && prompt != .root)
    }

    @Test("An Unlock or Authorize of a context prompts for what was locked in between", arguments: [true, false])
    @BusActor
    func context_lockedInBetween_promptsForTheRest(authorizes: Bool) async throws {
        let scene = try await Scene(in: .login)
        let lock = Message.toService(.service, Interface.service, "Lock", [ObjectPath.login])
        let call = authorizes ? try await scene.authorization() : try await scene.contextUnlock()
        let (done, prompt) = try await scene.reply(to: call, meanwhile: [lock]).read([ObjectPath].self, ObjectPath.self)
        #expect(done.count < Scene.count && prompt != .root)
    }

    @Test
    @BusActor
    func context_undisturbed_doesEachOnce() async throws {
        let scene = try await Scene(in: .login)
        for call in [try await scene.contextUnlock(times: 2), try await scene.authorization(times: 2)] {
            let (done, prompt) = try await scene.reply(to: call, meanwhile: [])
                .read([ObjectPath].self, ObjectPath.self)
            #expect(done == scene.items && prompt == .root)
        }
    }

    @Test
    @BusActor
    func lock_othersAreAnsweredInBetween() async throws {
        let scene = try await Scene(in: .sessionCollection)
        let lock = Message.toService(.service, Interface.service, "Lock", scene.items + [.login])
        let look = Message.toService(.login, "org.freedesktop.DBus.Properties", "Get", Interface.collection, "Locked")
        let (reply, looks) = try await scene.replies(to: lock, meanwhile: [look])
        guard case .boolean(false) = try #require(looks.first).read(Variant.self) else {
            Issue.record("the keychain is locked already")
            return
        }
        let (locked, prompt) = try reply.read([ObjectPath].self, ObjectPath.self)
        #expect(locked == [.login] && prompt == .root)
        #expect(try await scene.service.client.isCollectionLocked(.login))
    }

    @Test
    @BusActor
    func lock_samePathTwice_isAnsweredOnce() async throws {
        let scene = try await Scene(in: .login)
        let lock = Message.toService(.service, Interface.service, "Lock", scene.items + scene.items)
        let (locked, _) = try await scene.reply(to: lock, meanwhile: []).read([ObjectPath].self, ObjectPath.self)
        #expect(locked == scene.items)
        #expect(try await scene.service.client.isCollectionLocked(.login))
    }

    @Test
    @BusActor
    func get_deletedInBetween_isLeftOut() async throws {
        let scene = try await Scene(in: .sessionCollection)
        let last = Message.toService(scene.items[Scene.count - 1], Interface.item, "Delete")
        let get = scene.call("Get", scene.items.reversed() + scene.items)
        let (rows, _) = try await scene.reply(to: get, meanwhile: [last])
            .read([FoundRow].self, [ObjectPath: WireSecret].self)
        #expect(rows.map(\.path) == scene.items.dropLast())
    }

    @Test
    @BusActor
    func confirm_deletedInBetween_isRefused() async throws {
        let scene = try await Scene(in: .sessionCollection)
        let last = Message.toService(scene.items[Scene.count - 1], Interface.item, "Delete")
        #expect(try await scene.reply(to: scene.confirmation, meanwhile: [last]).error?.name == .noSuchObject)
    }

    @Test("The dialog that gives items to a sandbox counts those that are left")
    @BusActor
    func confirmation_deletedInBetween_isNotCounted() async throws {
        let scene = try await Scene(in: .sessionCollection)
        let prompter = try FakePrompter(on: scene.service.bus, [.cancel])
        let prompt = try await scene.reply(to: scene.confirmation, meanwhile: []).read(ObjectPath.self)
        let last = Message.toService(scene.items[Scene.count - 1], Interface.item, "Delete")
        _ = try await scene.reply(to: Message.toService(prompt, Interface.prompt, "Prompt", ""), meanwhile: [last])
        let question = try await prompter.questions.first("the dialog") { _ in true }
        // Eight are named.
        #expect(question.text("description")?.contains("\(Scene.count - 9) more") == true)
    }

    @Test("The prompt of an Unlock of many items asks for the password of a keychain that was locked in between")
    @BusActor
    func unlockPrompt_lockedInBetween_unlocksAgain() async throws {
        let scene = try await Scene(in: .login, [Reserved.accessControl: "userPresence"])
        let prompter = try FakePrompter(on: scene.service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let unlock = Message.toService(.service, Interface.service, "Unlock", scene.items)
        let (unlocked, prompt) = try await scene.reply(to: unlock, meanwhile: [])
            .read([ObjectPath].self, ObjectPath.self)
        #expect(unlocked.isEmpty)
        let lock = Message.toService(.service, Interface.service, "Lock", [ObjectPath.login])
        let (isDismissed, result) = try await scene.completion(of: prompt, meanwhile: [lock])
        #expect(!isDismissed && result == .objectPaths(scene.items))
    }

    @Test("A creation of a unique item lets others in while it looks at items with some of the attributes")
    @BusActor
    func createUnique_lockedInBetween_isRefused() async throws {
        let scene = try await Scene(in: .login)
        let lock = Message.toService(.service, Interface.service, "Lock", [ObjectPath.login])
        let error = try await scene.reply(to: scene.uniqueCreation, meanwhile: [lock]).error
        #expect(error?.name == .isLocked)
    }

    @Test("An import of a portal secret lets others in while it looks at items that pretend to be one")
    @BusActor
    func portalImport_lockedInBetween_isRefused() async throws {
        let scene = try await Scene(in: .login, [Attributes.portalApplication: "org.example.App"])
        #expect(try await scene.reply(to: scene.portalImport(7), meanwhile: []).read(Bool.self))
        let lock = Message.toService(.service, Interface.service, "Lock", [ObjectPath.login])
        let error = try await scene.reply(to: scene.portalImport(8), meanwhile: [lock]).error
        #expect(error?.name == .isLocked)
    }

    /// Many items, each of which takes a slice of the time of a call.
    @BusActor
    private final class Scene {
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
            objectsPerCall: Int = 100_000
        ) async throws {
            var limits = ServiceLimits()
            limits.objectsPerCall = objectsPerCall
            limits.objectsAtOnce = 1
            limits.searchedAtOnce = 1
            limits.timeSlice = .zero
            service = try await ProviderInProcess(limits: limits)
            #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
            let creator = service.client
            let plain = try await creator.openPlainSession()
            var items: [ObjectPath] = []
            for number in 0..<Scene.count {
                let attributes = ["of": "scene", "n": "\(number)"].merging(added) { $1 }
                items.append(try await creator.createItem(in: collection, "label", attributes, session: plain))
            }
            self.items = items
            (client, session) = try await Scene.client(of: service.bus)
            (other, otherSession) = try await Scene.client(of: service.bus)
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

        /// The call that creates an item unless there is one that lacks what all items have.
        var uniqueCreation: Message {
            let properties = SecretServiceProxy.itemProperties(label: "unique", ["of": "scene"])
            let secret = WireSecret(session: session, value: [1])
            let interface = "org.keychaind.Collection1"
            return Message.toService(.login, interface, "CreateItem", properties, secret, false, ["of", "n"])
        }

        /// The call that imports a portal secret of the same bytes.
        func portalImport(_ byte: UInt8) -> Message {
            let path = ObjectPath(unchecked: "/org/keychaind/Portal")
            let secret = WireSecret(session: session, value: [UInt8](repeating: byte, count: 64))
            return Message.toService(path, "org.keychaind.Portal1", "Import", "org.example.App", secret)
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

        func isNewer(_ first: ObjectPath, than second: ObjectPath) -> Bool {
            (items.firstIndex(of: first) ?? 0) > (items.firstIndex(of: second) ?? 0)
        }

        /// Leaves with calls in flight, and asks for all secrets as the other program.
        func replyAfterLeaving(_ calls: [Message]) async throws -> Message {
            calls.forEach(client.send)
            try client.waitForBus()
            client.close()
            other.send(secretsCall(in: otherSession))
            return try #require(await other.replies(1).first)
        }

        /// Makes a call; those of another program come right behind it, before the service has seen it.
        func reply(to call: Message, meanwhile calls: [Message]) async throws -> Message {
            try await replies(to: call, meanwhile: calls).0
        }

        /// Runs a prompt in the same way; returns whether it was dismissed, and its result.
        func completion(of prompt: ObjectPath, meanwhile calls: [Message]) async throws -> (Bool, Variant) {
            client.send(Message.toService(prompt, Interface.prompt, "Prompt", ""))
            try client.waitForBus()
            calls.forEach(other.send)
            try other.waitForBus()
            let messages = await client.messages { $0.path == prompt.rawValue && $0.member == "Completed" }
            return try #require(messages.last).read(Bool.self, Variant.self)
        }

        /// Does the same as ``reply(to:meanwhile:)``, and also returns the replies to the other program.
        func replies(to call: Message, meanwhile calls: [Message]) async throws -> (Message, [Message]) {
            client.send(call)
            try client.waitForBus()
            calls.forEach(other.send)
            try other.waitForBus()
            let others = await other.replies(calls.count)
            #expect(others.compactMap(\.error) == [])
            return (try #require(await client.replies(1).first), others)
        }
    }
}
