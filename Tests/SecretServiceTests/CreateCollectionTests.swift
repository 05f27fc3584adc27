import KeychaindDBus
import KeychaindTestSupport
import Testing

struct CreateCollectionTests {
    @Test("#49 #50 #52 #53 #115 CreateCollection returns a prompt, whose result is the new collection's path")
    func createCollection_answered_givesItsPath() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            let reply = try await client.createCollection(SecretServiceProxy.collectionProperties(label: "My label"))
            #expect(reply.collection == .root && reply.prompt != .root)
            #expect(try await client.collections().count == 2)
            let outcome = try await client.complete(reply.prompt)
            let path = try #require(outcome.path)
            #expect(!outcome.isDismissed && path != .root)
            #expect(try await client.collections().contains(path))
            #expect(
                try await client.property("Label", of: path, Interface.collection, as: String.self) == "My label"
            )
            #expect(try await client.isCollectionLocked(path) == false)
            #expect(try await client.items(of: path).isEmpty)
            #expect(prompter.questions.all.map(\.type) == ["password"])
        }
    }

    @Test("#51 #56 a collection is created without properties, and with unknown ones")
    func createCollection_oddProperties_areTaken() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            for properties in [
                [:], ["\(Interface.collection).Locked": .boolean(true), "Label": .string("x"), "": .uint32(1)],
            ] as [[String: Variant]] {
                let prompt = try await client.createCollection(properties).prompt
                let path = try #require(try await client.complete(prompt).path)
                let label: String = try await client.property("Label", of: path, Interface.collection)
                #expect(!label.isEmpty)
            }
            await prompter.crash()
        }
    }

    @Test("#55 an existing collection with the alias is returned at once, with the properties set")
    func createCollection_aliasIsTaken_givesThatCollection() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work", alias: "work")
            #expect(try await client.readAlias("work") == work)
            let mark = client.signals.count
            let (collection, prompt) = try await client.createCollection(
                SecretServiceProxy.collectionProperties(label: "Renamed"),
                alias: "work"
            )
            #expect(collection == work && prompt == .root)
            #expect(try await client.property("Label", of: work, Interface.collection, as: String.self) == "Renamed")
            _ = try await client.signals.first("CollectionChanged", after: mark) { $0.member == "CollectionChanged" }
            #expect(try await client.createCollection([:], alias: "default").collection == .login)
            #expect(try await client.createCollection([:], alias: "session").collection == .sessionCollection)
            #expect(try await client.collections().count == 3)
        }
    }

    @Test("#4 #54 #55 two clients that create a collection get the same one by an alias, and one each without")
    func createCollection_twoAtOnce_giveOneByAlias() async throws {
        try await RunningService.withService { service in
            let first = service.client
            let second = try await service.makeClient()
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            let properties = SecretServiceProxy.collectionProperties(label: "Same")
            for (alias, count) in [("one", 1), ("", 2)] {
                let firstPrompt = try await first.createCollection(properties, alias: alias).prompt
                let secondPrompt = try await second.createCollection(properties, alias: alias).prompt
                async let firstOutcome = first.complete(firstPrompt)
                async let secondOutcome = second.complete(secondPrompt)
                let paths = try await [firstOutcome.path, secondOutcome.path].compactMap(\.self)
                #expect(paths.count == 2 && !paths.contains(.root) && Set(paths).count == count)
            }
            #expect(try await first.collections().count == 5)
            #expect(try await first.readAlias("") == .root)
            await prompter.crash()
        }
    }

    @Test("#55 #56 a fresh account's login keeps its label if the call has none")
    func createCollection_vacantLoginWithoutLabel_keepsItsLabel() async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            let before: String = try await service.client.property("Label", of: .login, Interface.collection)
            let prompt = try await service.client.createCollection([:], alias: "default").prompt
            #expect(try await service.client.complete(prompt).path == .login)
            #expect(try await service.client.property("Label", of: .login, Interface.collection) == before)
            await prompter.crash()
        }
    }

    @Test("#48 a label above the limit is LimitsExceeded without a dialog")
    func createCollection_longLabel_isRefusedAtOnce() async throws {
        let (client, _) = try await SharedService.client()
        let label = String(repeating: "l", count: (64 << 10) + 1)
        await #expect(throws: BusError.limitsExceeded) {
            try await client.createCollection(SecretServiceProxy.collectionProperties(label: label))
        }
    }

    @Test("#53 #118 #123 a dismissed prompt creates no collection, and its result is the path /")
    func createCollection_dismissed_makesNothing() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let prompter = try await FakePrompter(on: service.bus, [.cancel])
            let prompt = try await client.createCollection([:], alias: "none").prompt
            let outcome = try await client.complete(prompt)
            #expect(outcome.isDismissed && outcome.path == .root)
            #expect(try await client.collections().count == 2)
            #expect(try await client.readAlias("none") == .root)
            await prompter.crash()
        }
    }

    @Test("#61 CreateCollection with the alias default creates a fresh account's login, with its label")
    func createCollection_defaultOnAFreshAccount_isLogin() async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let client = service.client
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            let reply = try await client.createCollection(
                SecretServiceProxy.collectionProperties(label: "Default keyring"),
                alias: "default"
            )
            #expect(reply.collection == .root && reply.prompt != .root)
            #expect(try await client.complete(reply.prompt).path == .login)
            #expect(try await client.readAlias("default") == .login)
            #expect(try await client.isCollectionLocked(.login) == false)
            let label: String = try await client.property("Label", of: .login, Interface.collection)
            #expect(label == "Default keyring")
            await prompter.crash()
        }
    }

    @Test("#113 a new collection is on disk before its prompt completes")
    func createCollection_killedAfterwards_isThere() async throws {
        try await RunningService.withService { service in
            let path = try await service.createCollection("Büro", alias: "büro")
            let item = try await service.client.createItem(in: path, session: service.client.openPlainSession())
            try await service.daemon.kill()
            try await service.daemon.start()
            #expect(try await service.client.collections().contains(path))
            #expect(try await service.client.readAlias("büro") == path)
            #expect(try await service.client.items(of: path) == [item])
            #expect(try await service.unlock([path]).paths == [path.rawValue])
            let session = try await service.client.openPlainSession()
            #expect(try await service.client.secretText(of: item, session: session) == "secret")
        }
    }
}
