import DBus
import Gcrypt
import KeychainModel
import TestSupport
import Testing
import Vault

/// The account has another password than the keychain.
@Suite(.onLoop)
struct DriftTests {
    private static let hasChanged = "Your password has changed, and the keychain “Login” still has the old one"

    @Test
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
        let (isOpen, questions) = try await service.unlock([.answer("after"), .answer(ProviderInProcess.password)])
        #expect(isOpen)
        #expect(questions.map { $0.text("message") } == [Self.hasChanged, Self.hasChanged])
        #expect(questions.last?.text("warning") == "That password was not right.")
        // Every keychain that had the old password has the new one.
        for collection in [login, same] {
            #expect(try await service.opens("after", collection))
            #expect(try await !service.opens(ProviderInProcess.password, collection))
        }
        #expect(try await service.opens("own", other))
        let (isOpenAgain, later) = try await service.unlock([.answer("after")])
        #expect(isOpenAgain)
        #expect(later.map { $0.text("message") } == ["Unlock the keychain “Login”"])
        await service.vault.close()
    }

    @Test
    @BusActor
    func unlock_withTheRecoveryKey_givesTheNewPasswordToo() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        let key = try await login.addRecoveryKey(openedBy: ProviderInProcess.bytes(ProviderInProcess.password))
            .grouped().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        try service.logIn(with: "after")
        let (isOpen, questions) = try await service.unlock([.answer(key)])
        #expect(isOpen)
        #expect(questions.count == 1)
        #expect(try await service.opens("after", login))
        #expect(try await !service.opens(ProviderInProcess.password, login))
        #expect(try await service.opens(key, login))
        await service.vault.close()
    }

    @Test
    @BusActor
    func unlock_dismissed_forgetsTheLogin() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        try service.logIn(with: "after")
        let (isOpen, questions) = try await service.unlock([.cancel])
        #expect(!isOpen)
        #expect(questions.first?.text("message") == Self.hasChanged)
        let (isOpenThen, later) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpenThen)
        #expect(later.first?.text("message") == "Unlock the keychain “Login”")
        #expect(try await service.opens(ProviderInProcess.password, login))
        #expect(try await !service.opens("after", login))
        await service.vault.close()
    }

    @Test
    @BusActor
    func unlock_afterSeveralLogins_theLastPasswordCounts() async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        try service.logIn(with: "first")
        try service.logIn(with: "second")
        let (isOpen, _) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpen)
        #expect(try await service.opens("second", login))
        await service.vault.close()
    }

    @Test
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
        #expect(prompter.questions.all.map { $0.text("message") } == ["Unlock the keychain “Other”"])
        prompter.crash()
        let (isOpen, questions) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpen)
        #expect(questions.first?.text("message") == Self.hasChanged)
        await service.vault.close()
    }
}
