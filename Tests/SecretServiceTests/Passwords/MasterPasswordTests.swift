import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// gnome-keyring's internal interface, with the answers of its version 42.
struct MasterPasswordTests {
    private static let label = "org.freedesktop.Secret.Collection.Label"
    private static let denied = BusError(ErrorName(rawValue: "org.gnome.keyring.Error.Denied"), "")

    private func withClient(
        _ body: (RunningService, SecretServiceProxy, (String) -> WireSecret) async throws -> Void
    ) async throws {
        try await RunningService.withService { service in
            let session = try await service.client.openPlainSession()
            try await body(service, service.client) { .password($0, session) }
        }
    }

    private func isDenied(_ body: () async throws -> Void) async -> Bool {
        await error(body) == Self.denied
    }

    /// Returns the error of a call; nil on success.
    private func error(_ body: () async throws -> Void) async -> BusError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? BusError
        }
    }

    @Test("#46 a wrong master password is gnome-keyring's Denied")
    func create_lock_unlock_change_work_andTellWrongPasswords() async throws {
        try await withClient { service, client, password in
            let ring = try await client.createWithMasterPassword([Self.label: .string("Test ring")], password("one"))
            #expect(ring.rawValue == "/org/freedesktop/secrets/collection/Test_20ring")
            #expect(try await client.collections().contains(ring))
            #expect(try await !client.isCollectionLocked(ring))
            try await client.lock([ring])
            let isDenied1 = await isDenied { try await client.unlockWithMasterPassword(ring, password("bad")) }
            #expect(isDenied1)
            #expect(try await client.isCollectionLocked(ring))
            try await client.unlockWithMasterPassword(ring, password("one"))
            #expect(try await !client.isCollectionLocked(ring))
            // An unlocked collection accepts any password.
            try await client.unlockWithMasterPassword(ring, password("bad"))

            let isDenied4 = await isDenied {
                try await client.changeWithMasterPassword(ring, from: password("bad"), to: password("two"))
            }
            #expect(isDenied4)
            try await client.changeWithMasterPassword(ring, from: password("one"), to: password("two"))
            #expect(try await !client.isCollectionLocked(ring))
            try await client.lock([ring])
            let isDenied2 = await isDenied { try await client.unlockWithMasterPassword(ring, password("one")) }
            #expect(isDenied2)
            try await client.changeWithMasterPassword(ring, from: password("two"), to: password("three"))
            #expect(try await client.isCollectionLocked(ring))
            try await client.unlockWithMasterPassword(ring, password("three"))
            #expect(try await !client.isCollectionLocked(ring))
        }
    }

    @Test("two creations create two collections, and one without a label")
    func create_twice_givesTwo_andWithoutALabelOne() async throws {
        try await withClient { _, client, password in
            let first = try await client.createWithMasterPassword([Self.label: .string("Ring")], password("x"))
            let second = try await client.createWithMasterPassword([Self.label: .string("Ring")], password("x"))
            let third = try await client.createWithMasterPassword([:], password("x"))
            #expect(Set([first, second, third]).count == 3)
        }
    }

    @Test("creating login sets the password of the waiting collection")
    func create_nameLogin_isTheOneThatWaitsForAPassword() async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let login = try await client.createWithMasterPassword(
                [Self.label: .string("Login")],
                .password("one", session)
            )
            #expect(login == .login)
            #expect(try await !client.isCollectionLocked(.login))
            let another = try await client.createWithMasterPassword(
                [Self.label: .string("Login")],
                .password("one", session)
            )
            #expect(another != .login)
        }
    }

    @Test("the errors are those of gnome-keyring")
    func errors_areThoseOfGnomeKeyring() async throws {
        try await withClient { _, client, password in
            let none = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/none")
            let foreign = WireSecret.password("x", ObjectPath(unchecked: "/nosuch"))
            for path in [none, .root] {
                let unlocking = await error { try await client.unlockWithMasterPassword(path, password("x")) }
                #expect(unlocking == .noSuchObject)
                let changing = await error {
                    try await client.changeWithMasterPassword(path, from: password("x"), to: password("y"))
                }
                #expect(changing == .noSuchObject)
                let prompting = await error { _ = try await client.changeWithPrompt(path) }
                #expect(prompting == .noSuchObject)
            }
            let unlocking = await error { try await client.unlockWithMasterPassword(.login, foreign) }
            #expect(unlocking == .noSession)
            let changing = await error {
                try await client.changeWithMasterPassword(.login, from: password("password"), to: foreign)
            }
            #expect(changing == .noSession)
            let creating = await error { _ = try await client.createWithMasterPassword([:], foreign) }
            #expect(creating == .noSession)
            let badLabel = await error {
                _ = try await client.createWithMasterPassword([Self.label: .boolean(true)], password("x"))
            }
            #expect(badLabel == .invalidArgs)
            // gnome-keyring accepts an empty password, and then stores everything in the clear.
            let empty = await error { _ = try await client.createWithMasterPassword([:], password("")) }
            #expect(empty == .invalidArgs)
            let emptied = await error {
                try await client.changeWithMasterPassword(.login, from: password("password"), to: password(""))
            }
            #expect(emptied == .invalidArgs)
            let session = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/session")
            try await client.unlockWithMasterPassword(session, password("x"))
            let inMemory = await error {
                try await client.changeWithMasterPassword(session, from: password("x"), to: password("y"))
            }
            #expect(inMemory == Self.denied)
        }
    }

    @Test("repeated wrong passwords are delayed")
    func login_wrongPasswordAgainAndAgain_costsTime() async throws {
        try await withClient { service, client, password in
            var attempts = 0
            var message = ""
            while attempts < 20, !message.contains("Try again in") {
                attempts += 1
                do throws(BusError) {
                    try await client.changeWithMasterPassword(.login, from: password("bad"), to: password("new"))
                } catch {
                    #expect(error.name == Self.denied.name)
                    message = error.message
                }
            }
            #expect(attempts < 20)
            // The right password has to wait, too.
            func isChangeDenied() async -> Bool {
                await isDenied {
                    try await client.changeWithMasterPassword(.login, from: password("password"), to: password("new"))
                }
            }
            #expect(await isChangeDenied())
            try service.daemon.clock.pass(.seconds(1))
            #expect(await !isChangeDenied())
        }
    }

    @Test("wrong passwords of programs do not delay the user")
    func wrongPasswordsOfPrograms_costPeopleNoTime() async throws {
        try await withClient { service, client, password in
            func isDelayed() async -> Bool {
                await error {
                    try await client.changeWithMasterPassword(.login, from: password("bad"), to: password("new"))
                }?.message.contains("Try again in") == true
            }
            var attempts = 0
            while attempts < 20, await !isDelayed() { attempts += 1 }
            #expect(attempts < 20)
            try await client.lock([.login])
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let item = try await service.unlock([.login], as: client)
            #expect(item.paths == [ObjectPath.login.rawValue])
            #expect(prompter.questions.count == 1)
            // The user's success does not reset the free attempts of programs.
            attempts = 0
            while attempts < 20, await !isDelayed() { attempts += 1 }
            #expect(attempts <= Lockout.freePasscodes)
            await prompter.crash()
        }
    }

    @Test("ChangeWithPrompt asks for the old and the new password")
    func change_withPrompt_asksForTheOldAndTheNew() async throws {
        try await withClient { service, client, password in
            let prompter = try await FakePrompter(
                on: service.bus,
                [.answer("bad"), .answer("password"), .answer("new")]
            )
            let outcome = try await client.complete(try await client.changeWithPrompt(.login))
            #expect(!outcome.isDismissed)
            #expect(outcome.result == .string(""))
            let questions = prompter.questions.all
            #expect(
                questions.map { $0.properties["password-new"] } == [.boolean(false), .boolean(false), .boolean(true)]
            )
            #expect(questions[1].text("warning") == "That password was not right.")
            try await client.lock([.login])
            let isDenied3 = await isDenied { try await client.unlockWithMasterPassword(.login, password("password")) }
            #expect(isDenied3)
            try await client.unlockWithMasterPassword(.login, password("new"))
            await prompter.crash()
        }
    }

    @Test("ChangeWithPrompt cancelled at any question changes nothing")
    func change_withPrompt_cancelledAtAnyQuestion_changesNothing() async throws {
        try await withClient { service, client, password in
            for answers in [[.cancel], [.answer("password"), .cancel]] as [[PromptResponse]] {
                let prompter = try await FakePrompter(on: service.bus, answers)
                let outcome = try await client.complete(try await client.changeWithPrompt(.login))
                #expect(outcome.isDismissed)
                #expect(outcome.result == .string(""))
                await prompter.crash()
            }
            try await client.lock([.login])
            try await client.unlockWithMasterPassword(.login, password("password"))
        }
    }

    @Test("a changed password and the items survive a restart")
    func change_survivesARestart_andTheItems() async throws {
        try await withClient { service, client, password in
            let session = password("").session
            let item = try await client.createItem("label", ["a": "b"], secret: "kept", session: session)
            try await client.changeWithMasterPassword(.login, from: password("password"), to: password("new"))
            try await service.daemon.kill()
            try await service.daemon.start(KeychainDaemon.Options(password: "new"))
            let other = try await service.makeClient()
            #expect(try await other.secretText(of: item, session: other.openPlainSession()) == "kept")
        }
    }

    /// A password change is on disk either completely or not at all after a kill at any time.
    @Test("a kill during a change leaves either the old or the new password")
    func kill_duringChanges_leavesOneOfTwoPasswords() async throws {
        let service = try await RunningService()
        var current = "password"
        var client = service.client
        var session = try await client.openPlainSession()
        let item = try await client.createItem("label", ["a": "b"], secret: "kept", session: session)
        for round in 0..<8 {
            let next = "password \(round)"
            let change = Task { [client, session, current] in
                do throws(BusError) {
                    try await client.changeWithMasterPassword(
                        .login,
                        from: .password(current, session),
                        to: .password(next, session)
                    )
                    return true
                } catch {
                    return false
                }
            }
            // Later in each round.
            for _ in 0..<round * 5 { try await client.roundTrip() }
            try await service.daemon.kill()
            let wasAcknowledged = await change.value
            try await service.daemon.start(KeychainDaemon.Options(password: nil))
            client = try await service.makeClient()
            session = try await client.openPlainSession()
            let opensWithNext = await !isDenied {
                try await client.unlockWithMasterPassword(.login, .password(next, session))
            }
            #expect(opensWithNext || !wasAcknowledged, "round \(round)")
            if opensWithNext { current = next }
            try await client.unlockWithMasterPassword(.login, .password(current, session))
            #expect(try await client.secretText(of: item, session: session) == "kept")
        }
        try await service.daemon.stop()
    }
}
