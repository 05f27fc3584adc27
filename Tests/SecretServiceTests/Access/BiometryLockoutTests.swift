import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A fingerprint reader that is locked after five unknown fingers.
struct BiometryLockoutTests {
    @Test("five unknown fingers lock biometry until the passcode, also after a restart")
    func fiveStrangers_lockTheReader_untilThePasscode_alsoAfterARestart() async throws {
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "biometryAny", session: session)
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
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "biometryAny", session: session)
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
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let desktop = try await FakeNotifications(on: service.bus, capabilities: ["actions"])
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "biometryAny", session: session)
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
}

extension KeychainDaemon.Options {
    /// Starts with a locked keychain and a reader.
    fileprivate init(locked reader: VirtualReader) {
        self.init(password: nil)
        environment = reader.environment
    }
}
