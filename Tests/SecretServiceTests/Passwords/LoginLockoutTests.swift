import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Passwords at the login socket, sent by processes other than root.
@Suite(.onLoop)
struct LoginLockoutTests {
    @Test("wrong passwords at the socket delay programs, not the user")
    @BusActor
    func wrongPasswords_costProgramsTime_andNoPerson() async throws {
        let service = try await ProviderInProcess()
        var attempts = 0
        var status = LoginReply.Status.wrong
        while attempts < 20, status == .wrong {
            attempts += 1
            await service.provider.logins.unlock(try ProviderInProcess.bytes("bad"), from: .user)
            status = try await change(from: "bad", in: service)
        }
        #expect(status == .refused)
        let (isOpen, questions) = try await service.unlock([.answer(ProviderInProcess.password)])
        #expect(isOpen && questions.count == 1)
        await service.vault.close()
    }

    @Test("a wrong password at the socket or at the start is in the audit")
    @BusActor
    func wrongPasswords_areAudited() async throws {
        let service = try await ProviderInProcess()
        let start = StartUnlock(service.provider)
        start.vaultHasOpened()
        #expect(await start.attempt(try ProviderInProcess.bytes("bad"), hasLogin: true) == .wrong())
        #expect(await start.attempt(try ProviderInProcess.bytes(""), hasLogin: true) != .wrong())
        #expect(try await change(from: "bad", in: service) == .wrong)
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let entries = try await service.vault.auditEntries()
        #expect(entries.map(\.kind) == [.authentication, .authentication])
        #expect(entries.allSatisfy { $0.outcome == "authenticationFailed" && $0.item.hasSuffix("/login") })
        await service.vault.close()
    }

    /// The right password of another keychain is not `login`'s.
    @Test("the right password of another keychain ends no delay")
    @BusActor
    func rightPasswordOfAnotherKeychain_endsNoDelay() async throws {
        let service = try await ProviderInProcess()
        _ = try await service.vault.createCollection(label: "Own", password: ProviderInProcess.bytes("own"))
        var status = LoginReply.Status.wrong
        for round in 0..<10 where status != .refused {
            status = try await change(from: "bad", in: service)
            if status == .refused { break }
            // The first one sets the password "new" for it, and the next ones find that.
            status = try await change(from: round == 0 ? "own" : "new", in: service)
        }
        #expect(status == .refused)
        await service.vault.close()
    }

    /// A change that fails in part says nothing about `login`.
    @Test("the right password of another keychain is counted beside one that cannot be changed")
    @BusActor
    func rightPasswordOfAnotherKeychain_besideAnUnreadableOne_isCounted() async throws {
        let first = try await ProviderInProcess()
        _ = try await first.vault.createCollection(label: "Own", password: ProviderInProcess.bytes("own"))
        await first.vault.close()
        _ = try first.folder.write("no keychain", to: "data/Broken.keychain")
        let service = try await ProviderInProcess(folder: first.folder)
        #expect(try await change(from: "own", in: service) == .failed)
        var status = LoginReply.Status.failed
        for _ in 0..<10 where status != .refused { status = try await change(from: "new", in: service) }
        #expect(status == .refused)
        await service.vault.close()
    }

    @BusActor
    private func change(from old: String, in service: ProviderInProcess) async throws -> LoginReply.Status {
        let new = try ProviderInProcess.bytes("new")
        return await service.provider.logins.change(try ProviderInProcess.bytes(old), to: new, from: .user).status
    }
}
