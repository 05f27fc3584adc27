import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Guessing the password of a keychain on its past states.
@Suite(.onLoop)
struct CopyLockoutTests {
    private let time = TestClock()

    /// Compares a copy with its keychain; a dialog asks for its password.
    @BusActor
    private func compare(
        _ copy: String,
        in service: ProviderInProcess,
        _ answers: [PromptResponse]
    ) async throws -> (isOpen: Bool, warnings: [String]) {
        try await service.answering(answers) {
            let path = ObjectPath(unchecked: "/org/keychaind/Backups")
            return (try? await service.client.call(path, "org.keychaind.Backups1", "Compare", copy)) != nil
        }
    }

    /// Keeps a state of each keychain; returns the identifiers of that of `login`, and of that of the other one.
    @BusActor
    private func keepStates(in service: ProviderInProcess) async throws -> (login: String, other: String) {
        let other = try #require(service.vault.collections.first { !$0.isEphemeral && $0.name != .login })
        return (
            try await service.keepPastState(of: service.collection(.login)),
            try await service.keepPastState(of: other, password: "own")
        )
    }

    @Test("a program that knows the password of one past state cannot guess that of another, even with a restart")
    @BusActor
    func passwordOfAPastState_isNotFoundByTrying() async throws {
        let judge = TrustJudge()
        var service = try await ProviderInProcess(clock: time.clock, inspector: judge)
        let right = PromptResponse.answer(ProviderInProcess.password)
        let session = try await service.client.openPlainSession()
        try await service.client.unlockWithMasterPassword(.login, .password(ProviderInProcess.password, session))
        _ = try await service.client.createWithMasterPassword([:], .password("own", session))
        let copies = try await keepStates(in: service)
        let wrong = [PromptResponse](repeating: .answer("wrong"), count: 3)
        #expect(try await !compare(copies.login, in: service, wrong + [.cancel]).isOpen)
        #expect(try await compare(copies.other, in: service, [.answer("own")]).isOpen)
        // The first one is the fourth wrong one; the right one is not tried any more.
        let (isOpen, warnings) = try await compare(copies.login, in: service, [.answer("wrong"), right, .cancel])
        #expect(!isOpen && warnings.last?.contains("Too many passwords were wrong") == true)
        await service.vault.close()

        service = try await ProviderInProcess(clock: time.clock, folder: service.folder, inspector: judge)
        #expect(try await !compare(copies.login, in: service, [right, .cancel]).isOpen)
        // A person opens the state, and then the keychain.
        judge.verdict = .trusted
        #expect(try await compare(copies.login, in: service, [right, right]).isOpen)
        judge.verdict = .passwordsOnly(reason: "the test says so")
        time.now += .seconds(1)
        #expect(try await compare(copies.login, in: service, [right]).isOpen)
        await service.vault.close()
    }
}
