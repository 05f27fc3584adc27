import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Items that are bound to the enrolled fingers, and what tells programs of a change.
struct EnrolledFingersTests {
    @Test("biometryCurrentSet: after another finger is enrolled, the item cannot be unlocked")
    func currentSet_isOutOfReach_onceAnotherFingerIsEnrolled() async throws {
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "biometryCurrentSet", session: session)
            try await reader.touch("owner")
            #expect(try await client.completion(of: prompt).paths == [item.rawValue])
            try await client.lock([item])
            try await reader.enrol("left-thumb", as: "thumb")
            #expect(try await service.unlock([item], as: client).isDismissed)
            #expect(try await client.isItemLocked(item))
        }
    }

    @Test("a set of fingers sent by the client is ignored")
    func currentSet_givenByTheClient_isNotTaken() async throws {
        try await RunningService.withReader { service, reader, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let attributes = [Reserved.accessControl: "biometryCurrentSet", "keychain:biometry-set": "00"]
            let item = try await client.createItem("Bank", attributes, session: session)
            let binding = try await client.attributes(of: item)["keychain:biometry-set"]
            #expect(binding != "00" && binding?.count == 64)
            let plain = try await client.createItem("Plain", ["keychain:biometry-set": "00"], session: session)
            #expect(try await client.attributes(of: plain).isEmpty)
        }
    }

    @Test("biometryCurrentSet needs an enrolled finger")
    func currentSet_withoutAFinger_cannotBeStored() async throws {
        try await RunningService.withReader(isEnrolled: false) { service, reader, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            await #expect(throws: BusError.authentication("BiometryNotEnrolled")) {
                try await client.createProtectedItem("Bank", [:], "biometryCurrentSet", session: session)
            }
            let answer = try await client.canEvaluate("deviceOwnerAuthenticationWithBiometrics")
            #expect(answer.error == "org.keychaind.Error.BiometryNotEnrolled" && answer.biometry == "fingerprint")
        }
    }

    @Test("such a context unlocks biometryCurrentSet items until another finger is enrolled")
    func context_provedByAFinger_unlocksWhatIsBoundToIt_untilAnotherIsEnrolled() async throws {
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(
                "Bank",
                [:],
                "biometryCurrentSet",
                session: client.openPlainSession()
            )
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(300_000))
            let evaluation = Task { try await context.evaluate("deviceOwnerAuthenticationWithBiometrics") }
            try await reader.touch("owner")
            try await evaluation.value
            #expect(try await context.unlock([item]).unlocked == [item])
            try await client.lock([item])
            try await reader.enrol("left-thumb", as: "thumb")
            #expect(try await context.unlock([item]).unlocked.isEmpty)
        }
    }

    @Test("domainState changes with the enrolled fingers")
    func domainState_changesWithTheFingers() async throws {
        try await RunningService.withReader { service, reader, _ in
            let client = service.client
            let first = try await domainState(client)
            #expect(first.count == 32)
            #expect(try await domainState(client) == first)
            try await reader.enrol("left-thumb", as: "thumb")
            let second = try await domainState(client)
            #expect(second.count == 32 && second != first)
        }
    }

    @Test("domainState differs between programs")
    func domainState_ofAnotherProgram_isAnotherOne() async throws {
        try await RunningService.withReader { service, _, _ in
            let ofDBusSend = try await domainStateByDBusSend(service)
            #expect(try await domainStateByDBusSend(service) == ofDBusSend)
            let own = try await domainState(service.client)
            #expect(ofDBusSend.count == own.count && ofDBusSend != own)
        }
    }

    private func domainStateByDBusSend(_ service: RunningService) async throws -> [UInt8] {
        let result = try await Command.run(
            "/usr/bin/dbus-send",
            [
                "--session", "--print-reply=literal", "--dest=org.freedesktop.secrets",
                ContextClient.authentication.rawValue,
                "\(ContextClient.interface).GetDomainState",
            ],
            environment: service.daemon.environment
        )
        return result.text.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
    }

    private func domainState(_ client: SecretServiceProxy) async throws -> [UInt8] {
        try await client.call(ContextClient.authentication, ContextClient.interface, "GetDomainState")
            .read(ByteArray.self).bytes
    }
}
