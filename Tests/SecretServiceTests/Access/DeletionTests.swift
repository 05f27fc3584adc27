import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The dialog names what a deletion destroys.
struct DeletionTests {
    @Test("a collection with protected items is deleted after a confirmation")
    func collection_withProtectedItems_isDeletedAfterAConfirmation() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work")
            let prompter = try await FakePrompter(on: service.bus, [.cancel, .answer("")])
            _ = try await client.createItem(
                in: work,
                "Bank",
                [Reserved.accessControl: "devicePasscode"],
                session: client.openPlainSession()
            )
            #expect(try await client.complete(client.deleteCollection(work)).isDismissed)
            #expect(prompter.questions.all.first?.type == "confirm")
            #expect(try await client.items(of: work).count == 1)
            let outcome = try await client.complete(client.deleteCollection(work))
            #expect(outcome == PromptOutcome(isDismissed: false, result: .string("")))
            #expect(try await !client.collections().contains(work))
            await prompter.crash()
        }
    }

    /// Creating the next `login` sets the passcode, so deleting it needs its password.
    @Test("deleting login needs its password", arguments: [false, true])
    func login_isDeletedByItsPassword_andByNoMereYes(isLocked: Bool) async throws {
        try await RunningService.withPrompter([.answer(""), .answer("wrong"), .cancel]) { service, prompter in
            let client = service.client
            _ = try await client.createItem("plain", session: client.openPlainSession())
            let attacker = try await service.makeClient()
            if isLocked { try await attacker.lock([.login]) }
            #expect(try await attacker.complete(attacker.deleteCollection(.login)).isDismissed)
            #expect(prompter.questions.all.map(\.type) == ["password", "password", "password"])
            #expect(try await client.items(of: .login).count == 1)
            await prompter.answer(with: [.answer("password")])
            #expect(try await !client.complete(client.deleteCollection(.login)).isDismissed)
            #expect(try await client.items(of: .login).isEmpty)
        }
    }

    @Test("a prompter with words of its own says that login is deleted, not unlocked")
    func deletionOfLogin_inKDE_isNoUnlock() async throws {
        var options = KeychainDaemon.Options()
        options.arguments = ["--prompters", "kde"]
        options.environment = ["XDG_CURRENT_DESKTOP": "KDE"]
        try await RunningService.withService(options) { service in
            let prompter = try await FakeKDEPrompter(on: service.bus, [.reject])
            let client = service.client
            #expect(try await client.complete(client.deleteCollection(.login)).isDismissed)
            let question = try #require(prompter.events.all.first)
            #expect(question.contains(" Delete the keychain “Login” for ever – for "), "\(question)")
            await prompter.crash()
        }
    }

    @Test("the dialog for deleting login names the lost items")
    func deletionOfLogin_saysWhatIsLost() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            _ = try await client.createItem("plain", session: session)
            _ = try await client.createProtectedItem(session: session)
            _ = try await client.createItem(
                in: .sessionCollection,
                "Elsewhere",
                [Reserved.accessControl: "userPresence"],
                session: session
            )
            #expect(try await !client.complete(client.deleteCollection(.login)).isDismissed)
            let text = try #require(prompter.questions.all.last?.text("description"))
            #expect(text.contains("Items that are lost: 2, 1 of them protected."))
            #expect(text.contains("Protected items in other keychains that ask for its password: 1."))
        }
    }

    @Test("a first password for login is refused while other keychains have protected items")
    func firstPassword_whileSomethingIsProtectedElsewhere_isRefused() async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem(
                in: .sessionCollection,
                "Bank",
                [Reserved.accessControl: "userPresence"],
                session: session
            )
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            let attacker = try await service.makeClient()
            let other = try await attacker.openPlainSession()
            let login: [String: Variant] = [Interface.collection + ".Label": .string("login")]
            await #expect(throws: BusError.notSupported) {
                try await attacker.createWithMasterPassword(login, .password("chosen", other))
            }
            await #expect(throws: BusError.notSupported) { try await attacker.createCollection([:], alias: "default") }
            #expect(try await service.unlock([.login], as: attacker).isDismissed)
            #expect(prompter.questions.count == 0)
            #expect(try await service.unlock([item], as: attacker).isDismissed)
            await prompter.crash()
        }
    }

    @Test("items that need the passcode are deleted with login, and named before")
    func itemsThatNeedAPasscode_goWithLogin_andAreNamedBefore() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let attributes = [Reserved.accessible: "whenPasscodeSetThisDeviceOnly"]
            _ = try await client.createItem("In login", attributes, session: session)
            _ = try await client.createItem(in: .sessionCollection, "In memory", attributes, session: session)
            let plain = try await client.createItem(in: .sessionCollection, "plain", session: session)
            let outcome = try await client.complete(client.deleteCollection(.login))
            #expect(!outcome.isDismissed)
            let text = try #require(prompter.questions.all.first?.text("description"))
            #expect(text.contains("In login") && text.contains("In memory"))
            #expect(try await client.items(of: .sessionCollection) == [plain])
            await #expect(throws: BusError.authentication("PasscodeNotSet")) {
                try await client.createItem(in: .sessionCollection, "late", attributes, session: session)
            }
        }
    }
}
