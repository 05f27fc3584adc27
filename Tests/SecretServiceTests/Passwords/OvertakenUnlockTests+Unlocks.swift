import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Unlocks that another one overtakes, after which any text would be taken for the password.
extension OvertakenUnlockTests {
    private static let denied = BusError(.init(rawValue: "org.gnome.keyring.Error.Denied"), "")

    /// Types three wrong passwords for `login`: the next wrong one is followed by a delay.
    @BusActor
    private func useUpFreePasswords(of service: ProviderInProcess) async throws {
        let wrong = PromptResponse.answer("wrong")
        #expect(try await !service.unlock([wrong, wrong, wrong, .cancel]).isOpen)
    }

    /// Whether a person has to wait after one more wrong password for `login`.
    @BusActor
    private func isDelayedAfterAWrongPassword(_ service: ProviderInProcess) async throws -> Bool {
        try service.collection(.login).lock()
        let (_, questions) = try await service.unlock([.answer("wrong"), .cancel])
        return questions.last?.text("warning")?.contains("Wait one second") == true
    }

    @Test("A text typed for a keychain that was unlocked behind the dialog ends no lockout")
    @BusActor
    func unlockPrompt_unlockedBehindTheDialog_endsNoLockout() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let login = try service.collection(.login)
        try await useUpFreePasswords(of: service)
        let (outcome, questions) = try await unlock(of: service, typing: ["unchecked"]) {
            try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([.login])))
        #expect(questions.count == 1)
        #expect(try await isDelayedAfterAWrongPassword(service))
        await service.vault.close()
    }

    @Test("A text of a program for a keychain that is being unlocked ends no lockout")
    @BusActor
    func unlockWithMasterPassword_unlockedDuringTheAttempt_endsNoLockout() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let client = service.client
        let login = try service.collection(.login)
        let session = try await client.openPlainSession()
        let right = WireSecret.password(ProviderInProcess.password, session)
        let wrong = WireSecret.password("wrong", session)
        try await useUpFreePasswords(of: service)
        for _ in 0..<3 {
            await #expect(throws: Self.denied) { try await client.unlockWithMasterPassword(.login, wrong) }
        }
        let unlock = { @BusActor in
            _ = try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        var unlocking: Task<Void, any Error>?
        time.beforeLock = { unlocking = Task.immediate { @BusActor in try await unlock() } }
        try await client.unlockWithMasterPassword(.login, wrong)
        try await #require(unlocking).value
        #expect(try await isDelayedAfterAWrongPassword(service))
        await #expect(throws: Self.denied) { try await client.unlockWithMasterPassword(.login, wrong) }
        // Not checked any more.
        await #expect(throws: Self.denied) { try await client.unlockWithMasterPassword(.login, right) }
        await service.vault.close()
    }

    @Test("A password of a login that was not checked ends no lockout, and not the question for the former password")
    @BusActor
    func login_unlockedMeanwhile_endsNoLockout() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let login = try service.collection(.login)
        let work = try await service.vault.createCollection(label: "Work", password: ProviderInProcess.bytes("work"))
        try await useUpFreePasswords(of: service)
        try service.logIn(with: "after")
        // The unlock lasts until there is a thread for it.
        let host = WaitingHost()
        let holding = Task.immediate { @BusActor in
            try await work.addHost(host, openedBy: ProviderInProcess.bytes("work"))
        }
        _ = try await host.calls.first("a derivation") { _ in true }
        let unlocking = Task.immediate { @BusActor in
            try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        let loggingIn = Task.immediate { @BusActor in
            await service.provider.logins.unlock(try ProviderInProcess.bytes("unchecked"), from: .root)
        }
        host.open()
        try await holding.value
        #expect(try await unlocking.value)
        try await loggingIn.value
        login.lock()
        let (_, questions) = try await service.unlock([.answer("wrong"), .cancel])
        #expect(questions.first?.text("message")?.hasSuffix("is not the one that you logged in with") == true)
        #expect(questions.last?.text("warning")?.contains("Wait one second") == true)
        await service.vault.close()
    }

    @Test("A text that was not checked is no passcode for the items that the dialog has named")
    @BusActor
    func unlockPrompt_unlockedBehindTheDialog_asksAboutItsItems() async throws {
        let service = try await ProviderInProcess()
        let client = service.client
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let bank = try await client.createProtectedItem("Bank", session: client.openPlainSession())
        try await client.lock([.login])
        let (outcome, questions) = try await unlock([bank], of: service, typing: ["unchecked", "before"]) {
            try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([bank])))
        #expect(questions.map(\.wish) == ["unlock the keychain “Login” and use “Bank”", "use “Bank”"])
        await service.vault.close()
    }
}
