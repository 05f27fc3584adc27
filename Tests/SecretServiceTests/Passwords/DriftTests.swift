import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// The account's password differs from the keychain's.
@Suite(.onLoop)
struct DriftTests {
    private static let isAnother = "The password of the keychain “Login” is not the one that you logged in with"
    private static let gets = "Enter your login password to set it for the keychain “Login”"

    @Test("after a login with another password, an unlock asks once for the former one")
    @BusActor
    func unlock_afterALoginWithAnotherPassword_asksForTheFormerOne_once() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        let same = try await service.vault.createCollection(
            label: "Same",
            password: ProviderInProcess.bytes(ProviderInProcess.password)
        )
        let other = try await service.vault.createCollection(label: "Other", password: ProviderInProcess.bytes("own"))
        try service.logIn(with: "after")
        let (isOpen, questions) = try await service.unlock([
            .answer("after"), .answer(ProviderInProcess.password), .answer("after"),
        ])
        #expect(isOpen)
        #expect(questions.map { $0.text("message") } == [Self.isAnother, Self.isAnother, Self.gets])
        #expect(questions.map { $0.text("warning") } == ["", "That password was not right.", ""])
        // Every keychain with the old password has the new one.
        for collection in [login, same] {
            #expect(try await service.opens("after", collection))
            #expect(try await !service.opens(ProviderInProcess.password, collection))
        }
        #expect(try await service.opens("own", other))
        let (isOpenAgain, later) = try await service.unlock([.answer("after")])
        #expect(isOpenAgain)
        #expect(later.map { $0.wish } == ["unlock the keychain “Login”"])
        await service.vault.close()
    }

    @Test("an unlock with the recovery key also sets the new password")
    @BusActor
    func unlock_withTheRecoveryKey_givesTheNewPasswordToo() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        let key = try await login.addRecoveryKey(openedBy: ProviderInProcess.bytes(ProviderInProcess.password))
            .grouped().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        try service.logIn(with: "after")
        let (isOpen, questions) = try await service.unlock([.answer(key), .answer("after")])
        #expect(isOpen)
        #expect(questions.count == 2)
        #expect(try await service.opens("after", login))
        #expect(try await !service.opens(ProviderInProcess.password, login))
        #expect(try await service.opens(key, login))
        await service.vault.close()
    }

    @Test("a dismissed unlock forgets the login's password")
    @BusActor
    func unlock_dismissed_forgetsTheLogin() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        try service.logIn(with: "after")
        let (isOpen, questions) = try await service.unlock([.cancel])
        #expect(!isOpen)
        #expect(questions.first?.text("message") == Self.isAnother)
        let (isOpenThen, later) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpenThen)
        #expect(later.first?.wish == "unlock the keychain “Login”")
        #expect(try await service.opens(ProviderInProcess.password, login))
        #expect(try await !service.opens("after", login))
        await service.vault.close()
    }

    @Test("after several logins, the last password counts")
    @BusActor
    func unlock_afterSeveralLogins_theLastPasswordCounts() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        try service.logIn(with: "first")
        try service.logIn(with: "second")
        let (isOpen, _) = try await service.unlock([
            .answer(ProviderInProcess.password), .answer("first"), .answer("second"),
        ])
        #expect(isOpen)
        #expect(try await service.opens("second", login))
        #expect(try await !service.opens("first", login))
        await service.vault.close()
    }

    @Test(
        "if the user does not know the login's password, the keychain keeps its own",
        arguments: [
            [.cancel],
            [.answer("the right one"), .answer("tyq"), .answer("")],
        ] as [[PromptResponse]]
    )
    @BusActor
    func unlock_personDoesNotKnowTheLoginsPassword_keychainKeepsItsOwn(answers: [PromptResponse]) async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        try service.logIn(with: "tyqo")
        let (isOpen, questions) = try await service.unlock([.answer(ProviderInProcess.password)] + answers)
        #expect(isOpen)
        #expect(questions.map { $0.text("message") } == [Self.isAnother] + answers.map { _ in Self.gets })
        #expect(try await service.opens(ProviderInProcess.password, login))
        #expect(try await !service.opens("tyqo", login))
        let (isOpenThen, later) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpenThen)
        #expect(later.map { $0.wish } == ["unlock the keychain “Login”"])
        await service.vault.close()
    }

    @Test("unlocking a sealed item accepts the current passcode")
    @BusActor
    func unlock_ofASealedItem_takesThePasscodeThatIsRightThen() async throws {
        // The typed answers, the number of questions, and the password that then opens the keychain.
        for (last, count, passcode) in [("after", 2, "after"), ("another", 4, ProviderInProcess.password)] {
            let service = try await ProviderInProcess()
            let login = try service.collection(.login)
            try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createItem(
                in: .login,
                "sealed",
                ["keychain:access-control": "devicePasscode"],
                secret: "kept",
                session: session
            )
            login.lock()
            try service.logIn(with: "after")
            let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password), .answer(last)])
            let outcome = try await service.client.complete(try await service.client.unlock([item]).prompt)
            #expect(!outcome.isDismissed)
            #expect(prompter.questions.count == count)
            #expect(try await service.client.secretText(of: item, session: session) == "kept")
            #expect(try await service.opens(passcode, login))
            await service.vault.close()
        }
    }

    @Test("a login with the keychain's password forgets the one before")
    @BusActor
    func logIn_withTheKeychainsPassword_forgetsTheLoginBeforeIt() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        for password in ["tyqo", ProviderInProcess.password] {
            await service.provider.logins.unlock(try ProviderInProcess.bytes(password), from: .root)
        }
        #expect(try await !service.client.isCollectionLocked(.login))
        login.lock()
        let (isOpen, questions) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpen)
        #expect(questions.map { $0.wish } == ["unlock the keychain “Login”"])
        await service.vault.close()
    }

    @Test("a person is told of the other password once, and the button asks for both")
    @BusActor
    func logIn_withAnotherPassword_isToldOnce() async throws {
        let service = try await ProviderInProcess()
        let desktop = try FakeNotifications(on: service.bus, capabilities: ["actions"])
        for password in ["after", "after"] {
            await service.provider.logins.unlock(try ProviderInProcess.bytes(password), from: .root)
        }
        let notification = try await desktop.shown.first("the notification")
        #expect(notification.summary == "Your login password does not open your keychain")
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password), .answer("after")])
        try await desktop.press("Unlock…", of: notification)
        _ = try await desktop.withdrawn.first("the end of the notification") { $0 == notification.number }
        #expect(prompter.questions.all.map { $0.text("message") } == [Self.isAnother, Self.gets])
        #expect(desktop.shown.count == 1)
        prompter.crash()
        await service.vault.close()
    }

    @Test("another keychain's unlock is not affected")
    @BusActor
    func unlock_ofAnotherKeychain_isNotConcerned() async throws {
        let service = try await ProviderInProcess()
        let other = try await service.vault.createCollection(label: "Other", password: ProviderInProcess.bytes("own"))
        other.lock()
        try service.logIn(with: "after")
        let prompter = try FakePrompter(on: service.bus, [.answer("own")])
        let path = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/Other")
        let outcome = try await service.client.complete(try await service.client.unlock([path]).prompt)
        #expect(!outcome.isDismissed)
        #expect(prompter.questions.all.map { $0.wish } == ["unlock the keychain “Other”"])
        prompter.crash()
        let (isOpen, questions) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpen)
        #expect(questions.first?.text("message") == Self.isAnother)
        await service.vault.close()
    }
}
