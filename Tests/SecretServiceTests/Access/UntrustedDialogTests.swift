import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Where no dialog may take a touch or a yes, as in a remote session, or there is no reader.
@Suite(.onLoop)
struct UntrustedDialogTests {
    /// A reader with an enrolled finger, which nobody touches.
    private final class Reader: Biometry {
        let firstHint = BiometryHint.touch

        func availability() async -> BiometryAvailability {
            .available(BiometrySet(hash: [UInt8](repeating: 1, count: 32)))
        }

        func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch { NoMatch() }
    }

    private final class NoMatch: BiometryMatch {
        func outcome() async -> BiometryOutcome {
            .failed(AuthenticationError(.systemCancel, reason: "nobody touches it"))
        }

        func cancel() {}
    }

    private let judge: TrustJudge
    private let service: ProviderInProcess

    @BusActor
    init() async throws {
        judge = TrustJudge()
        service = try await ProviderInProcess(inspector: judge, biometry: Reader())
    }

    @Test("an item that only a touch would open is stored only where a dialog may take one")
    @BusActor
    func create_fingerOnly_isRefusedWithTheReason() async throws {
        let prompter = try FakePrompter(on: service.bus, [])
        defer { prompter.crash() }
        let client = service.client
        let session = try await client.openPlainSession()
        try await client.unlockWithMasterPassword(.login, .password(ProviderInProcess.password, session))
        func store(_ control: String) async throws(BusError) -> ObjectPath {
            try await client.createItem("label", [Reserved.accessControl: control], session: session)
        }
        for control in ["biometryAny", "biometryCurrentSet and devicePasscode"] {
            let error = await #expect(throws: BusError.self) { _ = try await store(control) }
            #expect(error?.name == .notSupported)
            #expect(error?.message.contains("that takes keychaind-dialog") == true)
        }
        let item = try await store("userPresence")
        // Nor does a change make such an item.
        let attributes = Variant.stringDictionary([Reserved.accessControl: "biometryAny"])
        await #expect(throws: BusError(.notSupported, "")) {
            try await client.setProperty("Attributes", of: item, Interface.item, to: attributes)
        }
        judge.verdict = .trusted
        _ = try await store("biometryAny")
    }

    @Test("an item that only a touch would open is not stored without a reader: nobody could read or delete it")
    @BusActor
    func create_fingerOnlyWithoutReader_isRefusedWithTheReason() async throws {
        let service = try await ProviderInProcess()
        let client = service.client
        let session = try await client.openPlainSession()
        try await client.unlockWithMasterPassword(.login, .password(ProviderInProcess.password, session))
        let error = await #expect(throws: BusError.self) {
            _ = try await client.createItem("label", [Reserved.accessControl: "biometryAny"], session: session)
        }
        #expect(error?.name == .notSupported)
        #expect(error?.message.hasPrefix("only a finger would open it, and no fingerprint reader can be used") == true)
        _ = try await client.createItem("label", [Reserved.accessControl: "userPresence"], session: session)
    }

    @Test("a recovery key is refused before the password, with the reason, where no dialog may show it")
    @BusActor
    func addRecoveryKey_isRefusedWithTheReason() async throws {
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let prompt = try await service.client.addSlot("AddRecoveryKey", label: "paper", to: .login)
        let outcome = try await service.client.complete(prompt)
        #expect(outcome.isDismissed)
        let reason =
            "the dialogs here may not show a recovery key (the test says so): that takes keychaind-dialog, or GNOME "
            + "Shell on Wayland"
        #expect(outcome.result == .string(reason))
        #expect(prompter.questions.all.isEmpty)
    }
}
