import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Keychains that open together with `login`.
@Suite(.onLoop)
struct LoginSlotTests {
    private static let work = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/Work")

    /// Creates the keychain "Work", and locks both.
    @BusActor
    private func addWork(to service: ProviderInProcess, opensWithLogin: Bool = true) async throws -> Collection {
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let work = try await service.vault.createCollection(label: "Work", password: ProviderInProcess.bytes("work"))
        if opensWithLogin { try await work.addLogin(openedBy: ProviderInProcess.bytes("work")) }
        work.lock()
        login.lock()
        return work
    }

    @Test("A login opens it, and a program that asks meanwhile waits, and sees no dialog")
    @BusActor
    func login_opensIt_andCallsWait() async throws {
        let service = try await ProviderInProcess()
        let work = try await addWork(to: service)
        let other = try await service.vault.createCollection(label: "Other", password: ProviderInProcess.bytes("other"))
        // The key of `login` waits for its turn.
        let host = WaitingHost()
        let holding = Task.immediate { @BusActor in
            try await other.addHost(host, openedBy: ProviderInProcess.bytes("other"))
        }
        _ = try await host.calls.first("a derivation") { _ in true }
        let loggingIn = Task.immediate { @BusActor in
            await service.provider.logins.unlock(try ProviderInProcess.bytes(ProviderInProcess.password), from: .root)
        }
        let asking = Task { @BusActor in try await isWorkLocked(service) }
        let unlocking = Task { @BusActor in try await service.client.unlock([Self.work]) }
        // The calls are sent during the first one and have arrived before the second answer.
        try await service.client.roundTrip()
        try await service.client.roundTrip()
        host.open()
        try await holding.value
        #expect(try await !asking.value)
        let answer = try await unlocking.value
        #expect(answer.unlocked == [Self.work] && answer.prompt == .root)
        try await loggingIn.value
        #expect(work.unlockedBy == .login)
        await service.vault.close()
    }

    @Test("Locked alone it stays locked until login is opened again, and a lock of login leaves it open")
    @BusActor
    func lock_ofEither_leavesTheOther() async throws {
        let service = try await ProviderInProcess()
        let work = try await addWork(to: service)
        for _ in 0..<2 {
            #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
            #expect(try await !isWorkLocked(service))
            #expect(work.unlockedBy == .login)
            try await service.client.lock([Self.work])
            let (isOpen, questions) = try await unlockWork(service, [.cancel])
            #expect(!isOpen && questions.map(\.wish) == ["unlock the keychain “Work”"])
            try await service.client.lock([.login])
        }
        #expect(try await unlockWork(service, [.answer("work")]).isOpen)
        #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
        try await service.client.lock([.login])
        #expect(try await !isWorkLocked(service))
        await service.vault.close()
    }

    @Test("Across a restart it stays as it was")
    @BusActor
    func restart_leavesItLocked() async throws {
        let first = try await ProviderInProcess()
        _ = try await addWork(to: first)
        #expect(try await first.unlock([.answer(ProviderInProcess.password)]).isOpen)
        #expect(try await !isWorkLocked(first))
        try await first.client.lock([Self.work])
        guard let keys = try first.vault.handOver() else {
            Issue.record("there are no keys")
            return
        }
        await first.vault.close()
        let service = try await ProviderInProcess(folder: first.folder)
        // The fixture has unlocked `login`, and locked it again.
        try await service.client.lock([Self.work])
        try service.vault.receive(keys)
        #expect(await service.vault.takeOver() == [.login])
        #expect(try await isWorkLocked(service))
        await service.vault.close()
    }

    @Test("An unlock of both asks for login alone")
    @BusActor
    func unlock_ofBoth_asksOnce() async throws {
        let service = try await ProviderInProcess()
        _ = try await addWork(to: service)
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        let outcome = try await service.client.complete(try await service.client.unlock([Self.work, .login]).prompt)
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([Self.work, .login])))
        #expect(prompter.questions.all.map(\.wish) == ["unlock the keychain “Login”"])
        await service.vault.close()
    }

    @Test("Opened with login, its protected items still ask")
    @BusActor
    func protectedItem_stillAsks() async throws {
        let service = try await ProviderInProcess()
        let client = service.client
        let work = try await addWork(to: service)
        try await work.unlock(with: ProviderInProcess.bytes("work"))
        let session = try await client.openPlainSession()
        let created = try await work.createItem(
            label: "Bank",
            attributes: [ReservedAttribute.accessControl.rawValue: "devicePasscode"],
            secret: Secret(bytes: try ProviderInProcess.bytes("secret"), contentType: "text/plain"),
            replacing: false
        )
        let item = Self.work.appending("\(created.id)")
        work.lock()
        #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
        #expect(try await client.isItemLocked(item))
        await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
        let prompter = try FakePrompter(on: service.bus, [.answer("work"), .answer(ProviderInProcess.password)])
        let outcome = try await client.complete(try await client.unlock([item]).prompt)
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([item])))
        #expect(prompter.questions.all.count == 2)
        #expect(try await client.secretText(of: item, session: session) == "secret")
        await service.vault.close()
    }

    // MARK: The offer

    @Test("The dialog for its password offers it while login is open, and the tick counts with the right password")
    @BusActor
    func dialog_offersIt_andCountsWithTheRightPassword() async throws {
        let service = try await ProviderInProcess()
        let work = try await addWork(to: service, opensWithLogin: false)
        // There is no offer while `login` is locked.
        let tick = PromptResponse.answerWithCheckbox("work", isTicked: true)
        #expect(try await offers(service, [tick]) == [""])
        #expect(!work.opensWithLogin)
        work.lock()
        #expect(try await service.unlock([.answer(ProviderInProcess.password)]).questions.map(label) == [""])
        let offer = "Open Together With “Login”"
        #expect(try await offers(service, [.answerWithCheckbox("wrong", isTicked: true), .cancel]) == [offer, offer])
        #expect(!work.opensWithLogin)
        #expect(try await offers(service, [.answer("work")]) == [offer])
        #expect(!work.opensWithLogin)
        work.lock()
        #expect(try await offers(service, [tick]) == [offer])
        #expect(work.opensWithLogin)
        work.lock()
        #expect(try await offers(service, [.answer("work")]) == [""])
        await service.vault.close()
    }

    @Test("AddLogin opens a locked login first, and Remove ends it")
    @BusActor
    func addLogin_asksForBoth() async throws {
        let service = try await ProviderInProcess()
        let client = service.client
        let work = try await addWork(to: service, opensWithLogin: false)
        await #expect(throws: BusError.notSupported) { _ = try await client.addSlot("AddLogin", to: .login) }
        let prompter = try FakePrompter(
            on: service.bus,
            [.answer(ProviderInProcess.password), .answer("work"), .answer("work")]
        )
        let prompt = try await client.addSlot("AddLogin", label: "at logins", to: Self.work)
        #expect(try await !client.complete(prompt).isDismissed)
        #expect(prompter.questions.all.first?.wish == "unlock the keychain “Login”")
        let message = "Let the login keychain open the keychain “Work”"
        #expect(prompter.questions.all.last?.text("message") == message)
        let slots = try await client.slots(of: Self.work)
        #expect(slots.map(\.kind) == ["password", "login"] && slots.last?.label == "at logins")
        #expect(work.state == .locked)
        #expect(try await !client.complete(try await client.removeSlot(2, of: Self.work)).isDismissed)
        #expect(!work.opensWithLogin)
        await service.vault.close()
    }

    @Test("A keychain cannot be opened by a login keychain that does not exist")
    @BusActor
    func addLogin_withoutLogin_isRefused() async throws {
        let service = try await ProviderInProcess()
        _ = try await addWork(to: service, opensWithLogin: false)
        try await service.vault.delete(try service.collection(.login))
        await #expect(throws: BusError.notSupported) { _ = try await service.client.addSlot("AddLogin", to: Self.work) }
        await service.vault.close()
    }

    private func label(_ question: PromptQuestion) -> String? { question.text("choice-label") }

    /// What the dialogs for the password of "Work" offer.
    @BusActor
    private func offers(_ service: ProviderInProcess, _ answers: [PromptResponse]) async throws -> [String?] {
        try await unlockWork(service, answers).questions.map(label)
    }

    @BusActor
    private func unlockWork(
        _ service: ProviderInProcess,
        _ answers: [PromptResponse]
    ) async throws -> (isOpen: Bool, questions: [PromptQuestion]) {
        let prompter = try FakePrompter(on: service.bus, answers)
        let outcome = try await service.client.complete(try await service.client.unlock([Self.work]).prompt)
        prompter.crash()
        return (!outcome.isDismissed, prompter.questions.all)
    }

    /// Also waits for a key that is being derived.
    @BusActor
    private func isWorkLocked(_ service: ProviderInProcess) async throws -> Bool {
        try await service.client.property("Locked", of: Self.work, SecretServiceProxy.Interface.collection)
    }
}
