import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// What programs can do against a person's restore: hold its two places, and type wrong passwords.
@Suite(.onLoop)
struct RestorePlaceTests {
    private static let path = ObjectPath(unchecked: "/org/keychaind/Backups")
    private static let interface = "org.keychaind.Backups1"
    private static let refused = BusError(.limitsExceeded, "")
    private static let pastPatience = Duration.seconds(121)

    private let time = TestClock()

    @BusActor
    private func restore(_ file: String, as client: SecretServiceProxy) async throws -> ObjectPath {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        try #require(descriptor >= 0)
        let reply = try await client.call(Self.path, Self.interface, "Restore", FileDescriptor(owning: descriptor))
        return try reply.read(ObjectPath.self)
    }

    /// Makes the file of another keychain.
    @BusActor
    private func makeBackup(in service: ProviderInProcess) async throws -> String {
        let folder = service.folder.path("other")
        var configuration = VaultConfiguration(directory: folder, logger: service.logger)
        configuration.keyDerivation = Argon2id(memoryKiB: 64, iterations: 1, lanes: 1)
        let vault = Vault(configuration)
        try await vault.open()
        let login = try #require(vault.collection(named: .login))
        try await login.unlock(with: ProviderInProcess.bytes("other"))
        await vault.close()
        return folder + "/login.keychain"
    }

    /// Makes a keychain with a past state.
    @BusActor
    private func makeWork(in service: ProviderInProcess) async throws -> CollectionName {
        let work = try await service.vault.createCollection(label: "Work", password: ProviderInProcess.bytes("work"))
        _ = try await service.keepPastState(of: work, password: "work")
        return work.name
    }

    @Test("wrong passwords from a dialog of a program do not delay a person")
    @BusActor
    func wrongPasswordsOfAProgram_delayNoPerson() async throws {
        let judge = TrustJudge()
        let service = try await ProviderInProcess(clock: time.clock, inspector: judge)
        let backup = try await makeBackup(in: service)
        func warnings(_ answers: [PromptResponse]) async throws -> (isRestored: Bool, warnings: [String]) {
            let prompter = try FakePrompter(on: service.bus, answers)
            let outcome = try await service.client.complete(try await restore(backup, as: service.client))
            prompter.crash()
            return (!outcome.isDismissed, prompter.questions.all.compactMap { $0.text("warning") })
        }
        let guesses = try await warnings([PromptResponse](repeating: .answer("wrong"), count: 5) + [.cancel])
        #expect(!guesses.isRestored && guesses.warnings.last?.contains("Too many passwords were wrong") == true)
        judge.verdict = .trusted
        // The backup's password, and that of the keychain that it replaces.
        let person = try await warnings([.answer("other"), .answer(ProviderInProcess.password), .cancel])
        #expect(person.isRestored && !person.warnings.contains { $0.contains("Too many") })
        await service.vault.close()
    }

    @Test("a program has one restore at a time")
    @BusActor
    func aSecondOfAProgram_isRefused() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let backup = try await makeBackup(in: service)
        let prompt = try await restore(backup, as: service.client)
        await #expect(throws: Self.refused) { _ = try await restore(backup, as: service.client) }
        try await service.client.dismiss(prompt)
        _ = try await service.client.completion(of: prompt)
        _ = try await restore(backup, as: service.client)
        await service.vault.close()
    }

    @Test("dialogs that nobody answers give way after two minutes, the oldest first, and not before")
    @BusActor
    func dialogsThatNobodyAnswers_giveWay() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let backup = try await makeBackup(in: service)
        let prompter = try FakePrompter(on: service.bus, [.hang])
        var prompts: [ObjectPath] = []
        let holders = [try SecretServiceProxy(on: service.bus), try SecretServiceProxy(on: service.bus)]
        for holder in holders {
            let prompt = try await restore(backup, as: holder)
            try await holder.show(prompt)
            prompts.append(prompt)
            time.now += .seconds(1)
        }
        _ = try await prompter.questions.first("the dialog") { _ in true }
        await #expect(throws: Self.refused) { _ = try await restore(backup, as: service.client) }
        time.now += Self.pastPatience
        _ = try await restore(backup, as: service.client)
        #expect(try await holders[0].completion(of: prompts[0]).isDismissed)
        // The other dialog has its turn now.
        try await holders[1].dismiss(prompts[1])
        #expect(try await holders[1].completion(of: prompts[1]).isDismissed)
        prompter.crash()
        await service.vault.close()
    }

    @Test(
        "files that never answer give way after two minutes, and hold up no keychain",
        .enabled(if: StalledFile.isPossible)
    )
    @BusActor
    func filesThatNeverAnswer_giveWay_andHoldUpNoKeychain() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let backup = try await makeBackup(in: service)
        let stalled = try StalledFile(in: service.folder.path)
        defer { stalled.end() }
        var reads = stalled.transfers.makeAsyncIterator()
        var calls: [Task<ObjectPath, any Error>] = []
        // More than the threads that all keychains share.
        for number in 0..<10 {
            let holder = try SecretServiceProxy(on: service.bus)
            if number >= 2 { time.now += Self.pastPatience }
            calls.append(Task { @BusActor in try await restore(stalled.path, as: holder) })
            _ = await reads.next()
            guard number == 1 else { continue }
            await #expect(throws: Self.refused) { _ = try await restore(backup, as: service.client) }
        }
        for call in calls.dropLast(2) {
            await #expect(throws: Self.refused) { _ = try await call.value }
        }
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        try await login.setLabel("still served")
        time.now += Self.pastPatience
        let prompt = try await restore(backup, as: service.client)
        try await service.client.dismiss(prompt)
        stalled.end()
        for call in calls.suffix(2) { await #expect(throws: BusError.self) { _ = try await call.value } }
        await service.vault.close()
    }

    @Test(
        "a folder for backups that never answers holds up no past state, no restore and no end",
        .enabled(if: StalledFile.isPossible)
    )
    @BusActor
    func folderForBackupsThatNeverAnswers_holdsUpNothing() async throws {
        let service = try await ProviderInProcess(clock: time.clock)
        let backup = try await makeBackup(in: service)
        let folder = try service.folder.makeFolder("home/keychaind/backup")
        let stalled = try StalledFile(in: folder, named: "login.keychain", from: .opening)
        defer { stalled.end() }
        let backups = BackupFolder(in: service.folder.path("home"))
        let copying = Task { @BusActor in try await service.vault.backUp(.login, to: backups) }
        var openings = stalled.transfers.makeAsyncIterator()
        _ = await openings.next()
        _ = try await service.keepPastState(of: service.collection(.login))
        let right = [PromptResponse.answer("other"), .answer(ProviderInProcess.password)]
        let prompter = try FakePrompter(on: service.bus, right)
        #expect(try await !service.client.complete(try await restore(backup, as: service.client)).isDismissed)
        prompter.crash()
        await service.vault.close()
        stalled.end()
        await #expect(throws: VaultError.self) { try await copying.value }
    }

    @Test(
        "an unreadable or missing keychain gives way to a person, and not to a program's own keychain and dialog",
        arguments: [false, true]
    )
    @BusActor
    func unreadableKeychain_givesWayToAPersonAlone(isMissing: Bool) async throws {
        let judge = TrustJudge()
        var service = try await ProviderInProcess(clock: time.clock, inspector: judge)
        let backup = try await makeBackup(in: service)
        let name = try await makeWork(in: service)
        await service.vault.close()
        let file = service.folder.path("data/Work.keychain")
        try #require(rename(file, file + ".away") == 0)
        if !isMissing { try service.folder.write("no keychain", to: "data/Work.keychain") }
        try FileManager.default.copyItem(atPath: backup, toPath: service.folder.path("other/Work.keychain"))

        service = try await ProviderInProcess(clock: time.clock, folder: service.folder, inspector: judge)
        let own = service.folder.path("other/Work.keychain")
        func isRestored() async throws -> Bool {
            try await service.answering([.answer("other"), .cancel]) {
                try await !service.client.complete(try await restore(own, as: service.client)).isDismissed
            }.isOpen
        }
        #expect(try await !isRestored())
        #expect(try service.collection(name).isMissing == isMissing)
        #expect((try? String(contentsOfFile: file, encoding: .utf8)) == (isMissing ? nil : "no keychain"))
        judge.verdict = .trusted
        #expect(try await isRestored())
        #expect(try await service.opens("other", try service.collection(name)))
        await service.vault.close()
    }

    @Test("the password of the last past file of a missing keychain restores it in any dialog")
    @BusActor
    func missingKeychain_passwordOfItsPastFile_isRestored() async throws {
        let judge = TrustJudge()
        judge.verdict = .trusted
        var service = try await ProviderInProcess(clock: time.clock, inspector: judge)
        let name = try await makeWork(in: service)
        let copy = service.folder.path("Work.keychain")
        try FileManager.default.copyItem(atPath: service.folder.path("data/Work.keychain"), toPath: copy)
        #expect(
            try await service.answering([.answer("work")]) {
                try await !service.client.complete(try await restore(copy, as: service.client)).isDismissed
            }.isOpen
        )
        await service.vault.close()
        judge.verdict = .passwordsOnly(reason: "the test says so")
        let away = try service.folder.makeFolder("away") + "/Work.keychain"
        try #require(rename(service.folder.path("data/Work.keychain"), away) == 0)

        service = try await ProviderInProcess(clock: time.clock, folder: service.folder, inspector: judge)
        #expect(try service.collection(name).isMissing)
        let isRestored = try await service.answering([.answer("work")]) {
            try await !service.client.complete(try await restore(away, as: service.client)).isDismissed
        }.isOpen
        #expect(isRestored)
        #expect(try await service.opens("work", try service.collection(name)))
        await service.vault.close()
    }

    @Test("a program that a person limits before its dialog is told of no past state, and nobody is asked")
    @BusActor
    func compare_programIsLimitedMeanwhile_isRefused() async throws {
        let service = try await ProviderInProcess.unconfirmed()
        let copy = try await service.keepPastState(of: service.collection(.login))
        let (client, other) = (service.client, try SecretServiceProxy(on: service.bus))
        #expect(try await client.searchItems([:]).locked == [])
        let prompter = try FakePrompter(on: service.bus, [.hang])
        let prompt = try await ProviderInProcess.limitingPrompt(of: other)
        try await other.show(prompt)
        let question = try await prompter.questions.first("the dialog that limits it") { _ in true }
        let comparing = Task { @BusActor in
            _ = try await client.call(Self.path, Self.interface, "Compare", copy)
        }
        // The call is sent during the first one and has arrived before the second answer.
        try await client.roundTrip()
        try await client.roundTrip()
        prompter.respond(.answer(""), to: question)
        await #expect(throws: BusError.accessDenied) { try await comparing.value }
        #expect(prompter.questions.count == 1)
        prompter.crash()
        await service.vault.close()
    }
}
