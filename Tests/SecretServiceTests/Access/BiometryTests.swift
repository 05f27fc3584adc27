import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Items and contexts with a fingerprint reader: the real fprintd with libfprint's virtual reader.
struct BiometryTests {
    @Test("the owner's finger unlocks the item and closes the dialog")
    func touchOfTheOwner_releases_andTheDialogGoes() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem("Bank", [:], "biometryAny", session: session)
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            try await reader.touch("owner")
            #expect(try await client.completion(of: prompt).paths == [item.rawValue])
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("five unknown fingers lock biometry until the passcode, also after a restart")
    func fiveStrangers_lockTheReader_untilThePasscode_alsoAfterARestart() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(
                "Bank",
                [:],
                "biometryAny",
                session: client.openPlainSession()
            )
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            for _ in 0..<5 { try await reader.touch("stranger") }
            // The dialog stays, and says what frees the reader.
            let question = try await prompter.questions.first("the lockout") {
                $0.text("warning")?.contains("The fingerprint reader is locked") == true
            }
            #expect(question.type == "password")
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).isDismissed)
            #expect(try await client.isItemLocked(item))
            let locked = "org.keychaind.Error.BiometryLockout"
            #expect(try await client.canEvaluate("deviceOwnerAuthenticationWithBiometrics").error == locked)
            // Started without the password: a right one would end the lockout.
            try await service.daemon.restart(KeychainDaemon.Options(locked: reader))
            #expect(try await client.canEvaluate("deviceOwnerAuthenticationWithBiometrics").error == locked)
            try await prompter.end()
            let typist = try await FakePrompter(on: service.bus, [.answer("password")])
            #expect(try await service.unlock([.login], as: client).paths == [ObjectPath.login.rawValue])
            #expect(try await client.canEvaluate("deviceOwnerAuthenticationWithBiometrics").possible)
            await typist.crash()
        }
    }

    @Test("the passcode in the dialog of a lockout frees the reader, and opens no item by itself")
    func lockout_passcodeInItsDialog_freesTheReader() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem("Bank", [:], "biometryAny", session: session)
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            try await reader.touch("stranger")
            // Later touches change no word of it.
            _ = try await prompter.questions.first("the warning") {
                $0.text("warning")?.contains("not recognised") == true
            }
            await prompter.answer(with: [.answer("password"), .hang])
            let count = prompter.questions.count
            for _ in 0..<4 { try await reader.touch("stranger") }
            _ = try await prompter.questions.first("the question after the password", after: count) {
                $0.type != "password"
            }
            #expect(try await client.isItemLocked(item))
            try await reader.touch("owner")
            #expect(try await client.completion(of: prompt).paths == [item.rawValue])
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("a reader that is locked already is told by a notification, whose button frees it")
    func lockout_withoutADialog_isTold() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["actions"])
            let item = try await client.createProtectedItem(
                "Bank",
                [:],
                "biometryAny",
                session: client.openPlainSession()
            )
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            for _ in 0..<5 { try await reader.touch("stranger") }
            _ = try await prompter.questions.first("the lockout") { $0.type == "password" }
            try await client.dismiss(prompt)
            _ = try await client.completion(of: prompt)
            #expect(desktop.shown.count == 0)
            for _ in 0..<2 { #expect(try await service.unlock([item], as: client).isDismissed) }
            let notification = try await desktop.shown.first("the notification")
            #expect(notification.summary == "The fingerprint reader is locked" && desktop.shown.count == 1)
            await prompter.answer(with: [.answer("password")])
            try await desktop.press("Enter Password…", of: notification)
            _ = try await desktop.withdrawn.first("the end of the notification")
            #expect(try await client.canEvaluate("deviceOwnerAuthenticationWithBiometrics").possible)
        }
    }

    @Test("the passcode is accepted instead of a finger")
    func passcode_isTakenInsteadOfAFinger() async throws {
        try await withReader([.answer("password")]) { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            let text = prompter.questions.all.first?.text("description") ?? ""
            #expect(text.contains("fingerprint reader") && text.contains("password"))
            // The dialog ends without waiting for the reader.
            try await eventually("the end of the match") { (try? await reader.claimOnce()) != nil }
        }
    }

    @Test("a dismissal releases the reader")
    func dismissal_whileMatching_letsTheReaderGo() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            try await reader.waitUntilReady()
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).isDismissed)
            #expect(try await client.isItemLocked(item))
            try await client.roundTrip()
            #expect(client.completions.count == 1)
        }
    }

    @Test("biometryCurrentSet: after another finger is enrolled, the item cannot be unlocked")
    func currentSet_isOutOfReach_onceAnotherFingerIsEnrolled() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem("Bank", [:], "biometryCurrentSet", session: session)
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
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
        try await withReader { service, reader, _ in
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
        try await withReader(isEnrolled: false) { service, reader, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            await #expect(throws: BusError.authentication("BiometryNotEnrolled")) {
                try await client.createProtectedItem("Bank", [:], "biometryCurrentSet", session: session)
            }
            let answer = try await client.canEvaluate("deviceOwnerAuthenticationWithBiometrics")
            #expect(answer.error == "org.keychaind.Error.BiometryNotEnrolled" && answer.biometry == "fingerprint")
        }
    }

    @Test("a context authenticated by finger unlocks without a dialog")
    func context_provedByAFinger_unlocksWithoutAsking() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let context = try await ContextClient(client)
            let evaluation = Task { try await context.evaluate("deviceOwnerAuthenticationWithBiometrics") }
            try await reader.touch("owner")
            try await evaluation.value
            #expect(try await context.unlock([item]).unlocked == [item])
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("such a context unlocks biometryCurrentSet items until another finger is enrolled")
    func context_provedByAFinger_unlocksWhatIsBoundToIt_untilAnotherIsEnrolled() async throws {
        try await withReader { service, reader, prompter in
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

    @Test("the fallback button ends with userFallback")
    func fallback_isUserFallback() async throws {
        try await withReader([.answer("")]) { service, reader, prompter in
            let context = try await ContextClient(service.client)
            try await context.set("FallbackTitle", to: .string("My own way"))
            await #expect(throws: BusError.authentication("UserFallback")) {
                try await context.evaluate("deviceOwnerAuthenticationWithBiometrics")
            }
            #expect(prompter.questions.all.first?.text("continue-label") == "My own way")
        }
    }

    @Test("domainState changes with the enrolled fingers")
    func domainState_changesWithTheFingers() async throws {
        try await withReader { service, reader, _ in
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
        try await withReader { service, _, _ in
            let ofDBusSend = try await domainStateByDBusSend(service)
            #expect(try await domainStateByDBusSend(service) == ofDBusSend)
            let own = try await domainState(service.client)
            #expect(ofDBusSend.count == own.count && ofDBusSend != own)
        }
    }

    @Test("unplugging the reader dismisses the prompt and releases nothing")
    func unplugged_whileMatching_dismisses_andReleasesNothing() async throws {
        try await withReader { service, reader, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(
                "Bank",
                [:],
                "biometryAny",
                session: client.openPlainSession()
            )
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            try await reader.waitUntilReady()
            try await reader.unplug()
            #expect(try await client.completion(of: prompt).isDismissed)
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(try await client.isItemLocked(item))
        }
    }

    @Test("after the reader is unplugged, the passcode still works")
    func unplugged_whileMatching_leavesThePasscode() async throws {
        try await withReader([.hang, .answer("password")]) { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            try await reader.waitUntilReady()
            try await reader.unplug()
            #expect(try await client.completion(of: prompt).paths == [item.rawValue])
            #expect(try await client.secretText(of: item, session: session) == "secret")
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

    private func withReader(
        _ responses: [PromptResponse] = [.hang],
        isEnrolled: Bool = true,
        _ body: (RunningService, VirtualReader, FakePrompter) async throws -> Void
    ) async throws {
        let reader = try await VirtualReader()
        if isEnrolled { try await reader.enrol() }
        var options = KeychainDaemon.Options()
        options.environment = reader.environment
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await body(service, reader, prompter)
            await prompter.crash()
        }
    }
}

extension KeychainDaemon.Options {
    /// Starts with a locked keychain and a reader.
    fileprivate init(locked reader: VirtualReader) {
        self.init(password: nil)
        environment = reader.environment
    }
}
