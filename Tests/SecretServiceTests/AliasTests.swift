import KeychaindDBus
import KeychaindTestSupport
import Testing

struct AliasTests {
    @Test("#57 ReadAlias returns the collection, or / for an unknown alias")
    func readAlias_givesTheCollection() async throws {
        let (client, _) = try await SharedService.client()
        #expect(try await client.readAlias("default") == .login)
        #expect(try await client.readAlias("login") == .login)
        #expect(try await client.readAlias("session") == .sessionCollection)
        for name in ["", "none", "Default", "de/fault", "\u{1f511}"] {
            #expect(try await client.readAlias(name) == .root)
        }
    }

    @Test("#58 #11 SetAlias sets an alias of any name, and / removes it")
    func setAlias_pointsAndTakesAway() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let work = try await service.createCollection("Work")
            for (name, element) in [
                ("work", "work"), ("my work", "my_20work"), ("büro", "b_c3_bcro"), ("a_b", "a_5fb"),
            ] {
                try await client.setAlias(name, to: work)
                #expect(try await client.readAlias(name) == work)
                let path = ObjectPath(unchecked: "/org/freedesktop/secrets/aliases/\(element)")
                let item = try await client.createItem(in: path, session: session)
                #expect(item.parent == work)
                #expect(try await client.secretText(of: path.appending(item.name), session: session) == "secret")
                try await client.setAlias(name, to: .login)
                #expect(try await client.readAlias(name) == .login)
                try await client.setAlias(name, to: .root)
                #expect(try await client.readAlias(name) == .root)
                await #expect(throws: BusError.noSuchObject) { try await client.items(of: path) }
            }
        }
    }

    @Test("a collection has 64 aliases at most, also of those set at once, and leaves others theirs")
    func setAlias_pastTheLimitOfACollection_isRefused() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work")
            let count = 64
            let results = await withTaskGroup(of: (String, Result<Void, BusError>).self) { group in
                for number in 0..<count + 6 {
                    group.addTask {
                        do throws(BusError) {
                            try await client.setAlias("alias \(number)", to: work)
                            return ("alias \(number)", .success(()))
                        } catch {
                            return ("alias \(number)", .failure(error))
                        }
                    }
                }
                return await group.reduce(into: [:]) { results, result in results[result.0] = result.1 }
            }
            let refused = results.compactMap { name, result in
                if case .failure(let error) = result, error == .limitsExceeded { name } else { nil }
            }
            let set = results.keys.filter { name in !refused.contains(name) }
            #expect(refused.count == 6)
            for name in set { #expect(try await client.readAlias(name) == work) }
            // Setting one again takes no room, and another collection has its own.
            try await client.setAlias(set[0], to: work)
            try await client.setAlias(refused[0], to: .login)
            await #expect(throws: BusError.limitsExceeded) { try await client.setAlias(refused[0], to: work) }
            try await client.setAlias(set[0], to: .root)
            try await client.setAlias(refused[0], to: work)
            #expect(try await client.readAlias(refused[0]) == work)
        }
    }

    @Test("#58 the alias default can be changed, and falls back to login; a path may go through another alias")
    func setAlias_default_fallsBackToLogin() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work")
            try await client.setAlias("default", to: work)
            try await client.setAlias("other", to: .defaultAlias)
            #expect(try await [client.readAlias("default"), client.readAlias("other")] == [work, work])
            let item = try await client.createItem(session: client.openPlainSession())
            #expect(item.parent == work)
            try await client.setAlias("default", to: .root)
            #expect(try await client.readAlias("default") == .login)
        }
    }

    @Test(
        "#59 SetAlias to a path that is no collection is NoSuchObject and changes nothing",
        arguments: [
            "/org/freedesktop/secrets/collection/none", "/org/freedesktop/secrets/collection/login/1",
            "/org/freedesktop/secrets", "/other", "/org/freedesktop/secrets/aliases/none",
        ]
    )
    func setAlias_noCollection_isNoSuchObject(path: String) async throws {
        let (client, _) = try await SharedService.client()
        await #expect(throws: BusError.noSuchObject) {
            try await client.setAlias("default", to: ObjectPath(unchecked: path))
        }
        #expect(try await client.readAlias("default") == .login)
    }

    @Test("#60 #90 #113 aliases survive a restart, also right after the reply; those of a deleted collection are gone")
    func aliases_afterARestart_areThere() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let old = try await service.createCollection("Old", alias: "old")
            try await client.setAlias("default", to: old)
            #expect(try await client.deleteCollection(old) == .root)
            #expect(try await [client.readAlias("old"), client.readAlias("default")] == [.root, .login])
            let work = try await service.createCollection("Work")
            try await client.setAlias("gone", to: work)
            try await client.setAlias("gone", to: .root)
            try await client.setAlias("wörk", to: work)
            try await client.setAlias("default", to: work)
            try await service.daemon.kill()
            try await service.daemon.start()
            var aliases: [ObjectPath] = []
            for name in ["wörk", "default", "gone", "old"] { aliases.append(try await client.readAlias(name)) }
            #expect(aliases == [work, work, .root, .root])
        }
    }

    @Test("#61 #115 a fresh account's default collection is login, empty and locked until it gets a password")
    func freshAccount_hasADefaultCollection() async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let client = service.client
            #expect(try await client.readAlias("default") == .login)
            #expect(try await Set(client.collections()) == [.login, .sessionCollection])
            for path in [ObjectPath.defaultAlias, .login] {
                #expect(try await client.isCollectionLocked(path))
                #expect(try await client.items(of: path).isEmpty)
                #expect(try await client.searchItems([:], in: path).isEmpty)
            }
            let session = try await client.openPlainSession()
            await #expect(throws: BusError.isLocked) { try await client.createItem(session: session) }
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            let (unlocked, prompt) = try await client.unlock([.defaultAlias])
            #expect(unlocked.isEmpty && prompt != .root)
            #expect(try await client.complete(prompt).paths == [ObjectPath.defaultAlias.rawValue])
            #expect(prompter.questions.count == 1)
            let item = try await client.createItem(session: session)
            try await service.daemon.restart(KeychainDaemon.Options(password: "chosen"))
            #expect(try await client.secretText(of: item, session: client.openPlainSession()) == "secret")
        }
    }
}
