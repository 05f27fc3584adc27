import KeychaindDBus
import KeychaindTestSupport
import Testing

struct LockingTests {
    @Test("#68 #69 #115 unlocked objects are returned at once, without a prompt")
    func unlock_unlockedObjects_needNoPrompt() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let objects = [item, .defaultAlias, .login, .sessionCollection]
        let (unlocked, prompt) = try await client.unlock(objects)
        #expect(unlocked == objects && prompt == .root)
        #expect(try await client.unlock([]).prompt == .root)
    }

    @Test("#68 #70 #71 #72 #73 #74 objects are returned under the caller's paths, and items unlock their collection")
    func unlock_lockedObjects_areGivenBackInTheirSpelling() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem(session: session)
            let other = try await client.createItem(session: session)
            try await client.lock([.login])
            let objects = [ObjectPath.defaultAlias, item, ObjectPath.defaultAlias.appending(item.name), .login]
            let (unlocked, prompt) = try await client.unlock(objects + [.sessionCollection])
            #expect(unlocked == [.sessionCollection] && prompt != .root)
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            #expect(try await client.complete(prompt).paths == objects.map(\.rawValue))
            #expect(prompter.questions.count == 1)
            #expect(try await client.isItemLocked(other) == false)
            #expect(try await client.secretText(of: other, session: session) == "secret")
        }
    }

    @Test("#71 the result lists only unlocked objects: after a dismissed second dialog, the first collection")
    func unlock_secondDismissed_givesTheFirst() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work")
            try await client.lock([.login, work])
            let prompter = try await FakePrompter(on: service.bus, [.answer("password"), .cancel])
            let outcome = try await client.complete(try await client.unlock([work, .login]).prompt)
            #expect(!outcome.isDismissed && outcome.paths == [work.rawValue])
            #expect(try await client.isCollectionLocked(.login))
            #expect(try await client.isCollectionLocked(work) == false)
            await prompter.crash()
        }
    }

    @Test("#76 unknown objects are ignored, and the others are unlocked")
    func unlock_unknownObjects_arePassedOver() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let unknown = [
                ObjectPath.service, .root, .login.appending("999"), .service.appending("collection/none"),
                .service.appending("aliases/none"), .service.appending("session/1"),
            ]
            let reply = try await client.unlock(unknown)
            #expect(reply.unlocked.isEmpty && reply.prompt == .root)
            try await client.lock([.login])
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let outcome = try await client.complete(try await client.unlock(unknown + [.login] + unknown).prompt)
            #expect(outcome.paths == [ObjectPath.login.rawValue])
            #expect(try await client.lock(unknown + [.login]).locked == [.login])
            await prompter.crash()
        }
    }

    @Test("#68 after a wrong password, the dialog repeats with a warning")
    func unlock_wrongPassword_isAskedAgain() async throws {
        try await RunningService.withService { service in
            let client = service.client
            try await client.lock([.login])
            let prompter = try await FakePrompter(
                on: service.bus,
                [.answer("wrong"), .answer(""), .answer("Password"), .answer("password")]
            )
            let outcome = try await client.complete(try await client.unlock([.login]).prompt)
            #expect(!outcome.isDismissed && outcome.paths == [ObjectPath.login.rawValue])
            let warnings = prompter.questions.all.map { $0.text("warning") ?? "" }
            #expect(warnings.count == 4 && warnings[0].isEmpty && warnings.dropFirst().allSatisfy { !$0.isEmpty })
        }
    }

    @Test("#77 #79 Lock needs no prompt, and locking a locked object succeeds")
    func lock_locksAtOnce() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let item = try await client.createItem(session: client.openPlainSession())
            for objects in [[.defaultAlias], [.login], [item], [item, .login]] as [[ObjectPath]] {
                let (locked, prompt) = try await client.lock(objects)
                #expect(locked == objects && prompt == .root)
                #expect(try await client.isCollectionLocked(.login))
                #expect(try await client.isItemLocked(item))
            }
        }
    }

    @Test("#77 #92 the collection session cannot be locked, is omitted from the result, and ends with the daemon")
    func lock_sessionCollection_isLeftOut() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem(in: .sessionCollection, session: session)
            #expect(try await client.lock([.sessionCollection, .login, item]).locked == [.login])
            #expect(try await client.isCollectionLocked(.sessionCollection) == false)
            #expect(try await client.secretText(of: item, session: session) == "secret")
            try await service.daemon.restart()
            #expect(try await client.items(of: .sessionCollection).isEmpty)
        }
    }

    @Test("#80 #81 GetSecrets succeeds and omits locked and missing items")
    func getSecrets_leavesOut() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let inLogin = try await client.createItem(secret: "login", session: session)
            let inMemory = try await client.createItem(in: .sessionCollection, secret: "memory", session: session)
            let alias = ObjectPath.defaultAlias.appending(inLogin.name)
            let unknown = [ObjectPath.login.appending("999"), .login, .root, .service.appending("collection/none/1")]
            var secrets = try await client.secrets(of: [inLogin, inMemory, alias, inLogin] + unknown, session: session)
            #expect(Set(secrets.keys) == [inLogin, inMemory, alias])
            #expect(secrets[inLogin]?.value == Array("login".utf8) && secrets[inMemory]?.value == Array("memory".utf8))
            try await client.lock([.login])
            secrets = try await client.secrets(of: [inLogin, inMemory] + unknown, session: session)
            #expect(Set(secrets.keys) == [inMemory])
            #expect(try await client.secrets(of: [inLogin], session: session).isEmpty)
            #expect(try await client.secrets(of: [], session: session).isEmpty)
            await #expect(throws: BusError.noSession) { try await client.secrets(of: [], session: .root) }
        }
    }

    @Test("#80 GetSecrets returns a hundred secrets, small and large")
    func getSecrets_many_areAllThere() async throws {
        let (client, session) = try await SharedService.client()
        let encrypted = try await EncryptedSession(with: client)
        var values: [ObjectPath: [UInt8]] = [:]
        for number in 0..<100 {
            let value = [UInt8](repeating: UInt8(number), count: number % 10 == 0 ? 10_000 : number)
            let secret = WireSecret(session: session, value: value)
            values[try await client.createItem(properties: [:], secret: secret).item] = value
        }
        let plain = try await client.secrets(of: Array(values.keys), session: session)
        #expect(plain.mapValues(\.value) == values)
        let sealed = try await client.secrets(of: Array(values.keys), session: encrypted.path)
        #expect(try sealed.mapValues(encrypted.decrypt) == values)
    }

    @Test("#105 #106 #129 an item that was unlocked before shows attributes and label while locked, but no secret")
    func lockedAgain_showsAttributes() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("my label", ["a": "b"], session: session)
            let before = try await client.properties(of: item, Interface.item)
            try await client.lock([.login])
            var expected = before
            expected["Locked"] = .boolean(true)
            #expect(try await client.properties(of: item, Interface.item) == expected)
            #expect(try await client.items(of: .login) == [item])
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        }
    }

    @Test("#102 #106 an item that was never unlocked has every property, with empty label and attributes")
    func neverUnlocked_answersProperties() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let item = try await client.createItem("my label", ["a": "b"], session: client.openPlainSession())
            let before = try await client.properties(of: item, Interface.item)
            try await service.restartLocked()
            #expect(try await client.items(of: .login) == [item])
            let locked = try await client.properties(of: item, Interface.item)
            #expect(Set(locked.keys) == Set(before.keys))
            #expect(locked["Locked"] == .boolean(true) && locked["Label"] == .string(""))
            #expect(locked["Attributes"] == .stringDictionary([:]))
            #expect(try await service.unlock([item]).paths == [item.rawValue])
            #expect(try await client.properties(of: item, Interface.item) == before)
        }
    }

    @Test("#105 #106 an item that was never unlocked shows a program the attributes that it has searched for")
    func neverUnlocked_showsSearchedAttributes() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let searched = ["xdg:schema": "org.example.Mail", "host": "mail.example"]
            let all = searched.merging(["user": "anna"]) { $1 }
            let item = try await client.createItem("label", all, session: client.openPlainSession())
            try await service.restartLocked()
            let other = try await service.makeClient()
            for collection in [nil, ObjectPath.login] {
                _ = try await client.searchItems(["host": "other.example"])
                #expect(try await client.attributes(of: item) == [:])
                if let collection {
                    #expect(try await client.searchItems(searched, in: collection) == [item])
                } else {
                    #expect(try await client.searchItems(searched).locked == [item])
                }
                let shown = try await client.properties(of: item, Interface.item)
                #expect(shown["Attributes"] == .stringDictionary(searched))
                #expect(shown["Type"] == .string("org.example.Mail"))
                #expect(shown["Label"] == .string(""))
                #expect(try await other.attributes(of: item) == [:])
            }
            _ = try await service.unlock([item])
            #expect(try await client.attributes(of: item) == all)
        }
    }

    @Test("#75 #78 #133 a lock between Unlock and GetSecret is IsLocked; both are for all clients")
    func lock_inBetween_isSeen() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem(session: session)
            let other = try await service.makeClient()
            for _ in 0..<2 {
                try await other.lock([.login])
                await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
                _ = try await service.unlock([item])
                #expect(try await client.secretText(of: item, session: session) == "secret")
                #expect(try await !other.isItemLocked(item))
            }
        }
    }

    @Test("#78 with concurrent locks, each write succeeds or is IsLocked, and none is lost")
    func lock_duringWrites_losesNothing() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let other = try await service.makeClient()
            var created: Set<ObjectPath> = []
            for round in 0..<3 {
                let writes = (0..<20).map { number in
                    Task {
                        try await client.createItem("\(round) \(number)", ["r": "\(round)"], session: session)
                    }
                }
                try await other.lock([.login])
                for write in writes {
                    do {
                        created.insert(try await write.value)
                    } catch let error as BusError {
                        #expect(error == .isLocked)
                    }
                }
                _ = try await service.unlock([.login])
            }
            #expect(try await Set(client.items(of: .login)) == created)
            for item in created {
                #expect(try await client.secretText(of: item, session: session) == "secret")
            }
        }
    }

    @Test("#78 calls during key derivation at the start wait")
    func startWithPassword_callsWait() async throws {
        try await RunningService.withService(KeychainDaemon.Options(keychain: .none)) { service in
            let client = service.client
            let item = try await client.createItem("label", ["early": "bird"], session: client.openPlainSession())
            // The name is taken, but the key is not derived yet.
            try await service.daemon.restart()
            var session = try await client.openPlainSession()
            #expect(try await client.searchItems(["early": "bird"]).unlocked == [item])
            #expect(try await client.secretText(of: item, session: session) == "secret")
            try await service.daemon.restart()
            session = try await client.openPlainSession()
            #expect(try await client.find([["early": "bird"]], session: session).texts == [item: "secret"])
        }
    }

    @Test("#78 a wrong password at the start leaves the collection locked and intact")
    func startWithWrongPassword_staysLocked() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let item = try await client.createItem(session: client.openPlainSession())
            try await service.daemon.restart(KeychainDaemon.Options(password: "wrong"))
            #expect(try await client.isCollectionLocked(.login))
            #expect(try await client.items(of: .login) == [item])
            #expect(try await service.unlock([.login]).paths == [ObjectPath.login.rawValue])
            let session = try await client.openPlainSession()
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }
}
