import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// Calls about many objects, which let other calls in between.
@Suite(.onLoop)
struct LongCallTests {
    private typealias Interface = SecretServiceProxy.Interface
    private typealias Scene = LongCallScene

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
        let search = Message.toService(.service, "org.keychaind.Search1", "Search", queries, session, UInt32(0))
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
    func searchItems_inTwoCollections_areSortedTogether() async throws {
        let scene = try await Scene(in: .login)
        let client = scene.service.client
        let plain = try await client.openPlainSession()
        let other = try await client.createItem(in: .sessionCollection, "label", ["of": "scene"], session: plain)
        try await client.setSecret(WireSecret(session: plain, value: [1]), of: scene.items[0])
        let search = Message.toService(.service, Interface.service, "SearchItems", ["of": "scene"])
        let (unlocked, locked) = try await scene.reply(to: search, meanwhile: [])
            .read([ObjectPath].self, [ObjectPath].self)
        #expect(unlocked == [scene.items[0], other] + scene.items.dropFirst().reversed())
        #expect(locked.isEmpty)
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
}
