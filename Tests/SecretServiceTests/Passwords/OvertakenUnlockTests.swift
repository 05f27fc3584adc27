import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Unlocks that something overtakes: a lock, so that a password given before it would take effect after it, another
/// unlock, or another file.
@Suite(.onLoop)
struct OvertakenUnlockTests {
    /// A clock that locks a keychain when it is read, which is when an attempt is about to be recorded.
    ///
    /// `@unchecked Sendable`: used only on the event-loop thread.
    final class LockingClock: @unchecked Sendable {
        var locked: Collection?
        /// What happens once, just before the lock.
        var beforeLock: (() -> Void)?

        var clock: BootClock {
            BootClock(bootID: "boot") {
                self.beforeLock.take()?()
                self.locked?.lock()
                return .seconds(1000)
            }
        }
    }

    let time = LockingClock()

    /// Starts a service whose `login` is locked during each attempt.
    @BusActor
    private func start() async throws -> (service: ProviderInProcess, login: Collection) {
        let service = try await ProviderInProcess(clock: time.clock)
        let login = try service.collection(.login)
        time.locked = login
        return (service, login)
    }

    @Test("a password typed before a lock opens nothing after it, and the prompt is dismissed")
    @BusActor
    func prompt_lockedDuringTheAttempt_isDismissed() async throws {
        let (service, login) = try await start()
        let (isOpen, questions) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(!isOpen && questions.count == 1 && login.state == .locked)
        time.locked = nil
        #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
        await service.vault.close()
    }

    @Test("a password of a program opens nothing after a lock, and the call answers IsLocked")
    @BusActor
    func unlockWithMasterPassword_lockedDuringTheAttempt_answersIsLocked() async throws {
        let (service, login) = try await start()
        let client = service.client
        let password = WireSecret.password(ProviderInProcess.password, try await client.openPlainSession())
        await #expect(throws: BusError.isLocked) { try await client.unlockWithMasterPassword(.login, password) }
        #expect(login.state == .locked)
        time.locked = nil
        try await client.unlockWithMasterPassword(.login, password)
        #expect(login.state == .unlocked)
        await service.vault.close()
    }

    @Test("a password at the login socket opens nothing after a lock")
    @BusActor
    func login_lockedDuringTheAttempt_opensNothing() async throws {
        let (service, login) = try await start()
        await service.provider.logins.unlock(try ProviderInProcess.bytes(ProviderInProcess.password), from: .user)
        #expect(login.state == .locked)
        time.locked = nil
        await service.provider.logins.unlock(try ProviderInProcess.bytes(ProviderInProcess.password), from: .user)
        #expect(login.state == .unlocked)
        await service.vault.close()
    }

    @Test("a lock stops the logins that wait for others, and no later one")
    @BusActor
    func logins_locked_areStopped_andALaterOneWorks() async throws {
        let (service, login) = try await start()
        let logins = service.provider.logins
        let logIn = { @BusActor (peer: LoginPeer) in
            await logins.unlock(try ProviderInProcess.bytes(ProviderInProcess.password), from: peer)
        }
        var waiting: [Task<Void, any Error>] = []
        time.beforeLock = {
            waiting = (0..<2).map { _ in Task.immediate { @BusActor in try await logIn(.root) } }
        }
        try await logIn(.user)
        #expect(waiting.count == 2)
        for task in waiting { try await task.value }
        #expect(login.state == .locked)
        time.locked = nil
        try await logIn(.root)
        #expect(login.state == .unlocked)
        await service.vault.close()
    }

    @Test("A prompt opens the keychain that has taken the place of the one that it was asked for")
    @BusActor
    func unlockPrompt_fileIsTakenUpMeanwhile_opensIt() async throws {
        let service = try await ProviderInProcess()
        let prompt = try await service.client.unlock([.login]).prompt
        _ = await service.vault.takeUp(try service.collection(.login))
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        let outcome = try await service.client.complete(prompt)
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([.login])))
        prompter.crash()
        await service.vault.close()
    }

    @Test("A prompt asks nobody for the password of a keychain whose file is gone by then")
    @BusActor
    func unlockPrompt_fileIsGone_isDismissedWithoutADialog() async throws {
        let service = try await ProviderInProcess()
        let prompt = try await service.client.unlock([.login]).prompt
        #expect(unlink(service.folder.path("data/login.keychain")) == 0)
        _ = await service.vault.takeUp(try service.collection(.login))
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        let outcome = try await service.client.complete(prompt)
        #expect(outcome == PromptOutcome(isDismissed: true, result: .objectPaths([])))
        #expect(prompter.questions.all.isEmpty)
        prompter.crash()
        await service.vault.close()
    }

    @Test("A prompt opens a keychain whose file is taken up while the dialog for another one is open")
    @BusActor
    func unlockPrompt_fileIsTakenUpDuringADialog_opensIt() async throws {
        let service = try await ProviderInProcess()
        let work = try await service.vault.createCollection(label: "Work", password: ProviderInProcess.bytes("work"))
        work.lock()
        let path = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/Work")
        let prompt = try await service.client.unlock([path, .login]).prompt
        let prompter = try FakePrompter(on: service.bus, [.hang, .answer(ProviderInProcess.password)])
        try await service.client.show(prompt)
        let question = try await prompter.questions.first("the dialog for Work")
        _ = await service.vault.takeUp(try service.collection(.login))
        prompter.respond(.answer("work"), to: question)
        let outcome = try await service.client.completion(of: prompt)
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([path, .login])))
        #expect(prompter.questions.all.count == 2)
        prompter.crash()
        await service.vault.close()
    }

    /// Asks for the password in a dialog, which is answered only after something has happened.
    @BusActor
    func unlock(
        _ objects: [ObjectPath] = [.login],
        of service: ProviderInProcess,
        typing passwords: [String],
        after event: @BusActor () async throws -> Void
    ) async throws -> (outcome: PromptOutcome, questions: [PromptQuestion]) {
        let later = passwords.dropFirst().map { password in PromptResponse.answer(password) }
        let prompter = try FakePrompter(on: service.bus, [.hang] + later + [.cancel])
        let prompt = try await service.client.unlock(objects).prompt
        try await service.client.show(prompt)
        let question = try await prompter.questions.first("the dialog")
        try await event()
        prompter.respond(.answer(passwords[0]), to: question)
        let outcome = try await service.client.completion(of: prompt)
        prompter.crash()
        return (outcome, prompter.questions.all)
    }

    @Test(
        "A password opens the keychain whose file was taken up while the dialog was open, and a wrong one asks again",
        arguments: [["before"], ["wrong", "before"]]
    )
    @BusActor
    func unlockPrompt_fileIsTakenUpBehindTheDialog_opensIt(passwords: [String]) async throws {
        let service = try await ProviderInProcess()
        let old = try service.collection(.login)
        let (outcome, questions) = try await unlock(of: service, typing: passwords) {
            _ = await service.vault.takeUp(old)
        }
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([.login])))
        #expect(try service.collection(.login) !== old)
        #expect(try service.collection(.login).state == .unlocked)
        #expect(questions.count == passwords.count)
        let warnings = questions.dropFirst().map { question in question.text("warning") ?? "" }
        #expect(warnings.allSatisfy { warning in warning.hasPrefix("That password was not right.") })
        await service.vault.close()
    }

    @Test("A password that is given just before a file is taken up is asked for again")
    @BusActor
    func unlockPrompt_fileIsTakenUpDuringTheAttempt_asksAgain() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let old = try service.collection(.login)
        let takeUp = { @BusActor in _ = await service.vault.takeUp(old) }
        var taking: Task<Void, Never>?
        let (outcome, questions) = try await unlock(of: service, typing: ["before", "before"]) {
            time.beforeLock = { taking = Task.immediate { @BusActor in await takeUp() } }
        }
        await taking?.value
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([.login])))
        #expect(try service.collection(.login) !== old)
        #expect(questions.count == 2)
        await service.vault.close()
    }

    @Test("A dialog that is cancelled while a file is taken up dismisses the prompt at once")
    @BusActor
    func unlockPrompt_cancelledWhileAFileIsTakenUp_isDismissed() async throws {
        let service = try await ProviderInProcess()
        let old = try service.collection(.login)
        let work = try await service.vault.createCollection(label: "Work", password: ProviderInProcess.bytes("work"))
        let prompter = try FakePrompter(on: service.bus, [.hang])
        let prompt = try await service.client.unlock([.login]).prompt
        try await service.client.show(prompt)
        let question = try await prompter.questions.first("the dialog")
        // The old collection ends after its unlock, for which there is no thread.
        let host = WaitingHost()
        let holding = Task.immediate { @BusActor in
            try await work.addHost(host, openedBy: ProviderInProcess.bytes("work"))
        }
        _ = try await host.calls.first("a derivation") { _ in true }
        let unlocking = Task.immediate { @BusActor in try await old.unlock(with: ProviderInProcess.bytes("before")) }
        let taking = Task.immediate { @BusActor in _ = await service.vault.takeUp(old) }
        prompter.respond(.cancel, to: question)
        let outcome = try? await service.client.completion(of: prompt)
        #expect(outcome == PromptOutcome(isDismissed: true, result: .objectPaths([])))
        #expect(try service.collection(.login) === old)
        host.open()
        try await holding.value
        _ = await unlocking.result
        await taking.value
        #expect(try service.collection(.login) !== old)
        prompter.crash()
        await service.vault.close()
    }

    @Test("Items that a dialog has named are asked about again if the file is another one by then")
    @BusActor
    func unlockPrompt_fileIsTakenUpAfterItemsWereNamed_asksAboutThem() async throws {
        let service = try await ProviderInProcess()
        let client = service.client
        let old = try service.collection(.login)
        try await old.unlock(with: ProviderInProcess.bytes("before"))
        let bank = try await client.createProtectedItem("Bank", session: client.openPlainSession())
        try await client.lock([.login])
        let (outcome, questions) = try await unlock([bank], of: service, typing: ["before", "before"]) {
            _ = await service.vault.takeUp(old)
        }
        #expect(outcome == PromptOutcome(isDismissed: false, result: .objectPaths([bank])))
        #expect(questions.map(\.wish) == ["unlock the keychain “Login” and use “Bank”", "use “Bank”"])
        await service.vault.close()
    }

    @Test("A password for a keychain that is deleted behind the dialog becomes none of a new one")
    @BusActor
    func unlockPrompt_keychainIsDeletedBehindTheDialog_isDismissed() async throws {
        let service = try await ProviderInProcess()
        let old = try service.collection(.login)
        let (outcome, questions) = try await unlock(of: service, typing: ["before"]) {
            try await service.vault.delete(old)
        }
        #expect(outcome.isDismissed && questions.count == 1)
        #expect(try service.collection(.login).state == .vacant)
        await service.vault.close()
    }
}
