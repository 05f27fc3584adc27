import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Prompts that wait for what does not end, as on a disk that never answers.
@Suite(.onLoop)
struct WaitingPromptTests {
    @Test("#118 #125 a prompt that is dismissed while it waits for ever completes once")
    @BusActor
    func dismiss_actionDoesNotEnd_completes() async throws {
        var limits = ServiceLimits.patient
        (limits.prompts, limits.settlingTime) = (1, .milliseconds(20))
        let service = try await ProviderInProcess(limits: limits)
        let (client, login) = (service.client, try service.collection(.login))
        let (host, holding) = try await holdDerivations(of: login)
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let prompt = try await client.deleteCollection(.login)
        try await client.show(prompt)
        _ = try await prompter.questions.first("the question") { _ in true }
        // Answered after the person's answer has arrived.
        #expect(await prompter.error(of: .toService(.service, StandardInterface.peer, "Ping")) == nil)
        try await client.dismiss(prompt)
        #expect(try await client.completion(of: prompt) == PromptOutcome(isDismissed: true, result: .string("")))
        await #expect(throws: BusError.unknownObject) { try await client.dismiss(prompt) }
        // What it keeps counts until it ends.
        await #expect(throws: BusError(.limitsExceeded, "")) { try await client.deleteCollection(.login) }
        host.open()
        try await holding.value
        try await eventually("the end of the action") {
            do throws(BusError) {
                try await client.dismiss(try await client.deleteCollection(.login))
                return true
            } catch {
                return false
            }
        }
        #expect(client.completions.count(where: { $0.path == prompt.rawValue }) == 1)
        #expect(try await service.opens(ProviderInProcess.password, login))
        await service.vault.close()
    }

    @Test("#127 a replacement of the file that does not end holds up no dialog")
    @BusActor
    func dialog_replacementDoesNotEnd_comes() async throws {
        var limits = ServiceLimits.patient
        limits.settlingTime = .milliseconds(20)
        let service = try await ProviderInProcess(limits: limits)
        let (client, login) = (service.client, try service.collection(.login))
        let (host, holding) = try await holdDerivations(of: login)
        let unlocking = Task.immediate { @BusActor in
            _ = try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        // Waits for the derivation.
        let replacing = Task.immediate { @BusActor in _ = await service.vault.takeUp(login) }
        let prompter = try FakePrompter(on: service.bus, [.cancel])
        defer { prompter.crash() }
        #expect(try await client.complete(try await client.unlock([.login]).prompt).isDismissed)
        #expect(prompter.questions.count == 1)
        host.open()
        _ = await (holding.result, unlocking.result)
        await replacing.value
        await service.vault.close()
    }

    @Test("a restore whose prompt has completed keeps no place while its password is still tried, and restores nothing")
    @BusActor
    func restore_promptHasCompleted_keepsNoPlace() async throws {
        var limits = ServiceLimits.patient
        limits.settlingTime = .milliseconds(20)
        let service = try await ProviderInProcess(limits: limits)
        let (client, login) = (service.client, try service.collection(.login))
        let copy = try await service.keepPastState(of: login)
        login.lock()
        let (host, holding) = try await holdDerivations(of: login)
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let prompt = try await restore(copy, as: client)
        try await client.show(prompt)
        _ = try await prompter.questions.first("the question") { _ in true }
        // Answered after the person's answer has arrived.
        #expect(await prompter.error(of: .toService(.service, StandardInterface.peer, "Ping")) == nil)
        // Control: the dialog is still open.
        await #expect(throws: BusError(.limitsExceeded, "")) { _ = try await restore(copy, as: client) }
        try await client.dismiss(prompt)
        #expect(try await client.completion(of: prompt).isDismissed)
        try await client.dismiss(try await restore(copy, as: client))
        host.open()
        try await holding.value
        #expect(try service.collection(.login) === login)
        #expect(try await service.opens(ProviderInProcess.password, login))
        #expect(prompter.questions.count == 1)
        await service.vault.close()
    }

    @BusActor
    private func restore(_ copy: String, as client: SecretServiceProxy) async throws -> ObjectPath {
        let path = ObjectPath(unchecked: "/org/keychaind/Backups")
        return try await client.call(path, "org.keychaind.Backups1", "RestoreCopy", copy).read(ObjectPath.self)
    }

    /// Lets derivations wait until the host is open.
    @BusActor
    private func holdDerivations(of collection: Collection) async throws -> (WaitingHost, Task<Void, any Error>) {
        let host = WaitingHost()
        let holding = Task.immediate { @BusActor in
            try await collection.addHost(host, openedBy: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        _ = try await host.calls.first("the derivation before") { _ in true }
        return (host, holding)
    }
}
