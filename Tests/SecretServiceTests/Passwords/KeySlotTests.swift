import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Key slots over the bus.
struct KeySlotTests {
    private func isUnlocked(
        _ service: RunningService,
        by answers: [PromptResponse],
        prompts: (([PromptQuestion]) -> Void)? = nil
    ) async throws -> Bool {
        try await service.client.lock([.login])
        let prompter = try await FakePrompter(on: service.bus, answers)
        let outcome = try await service.client.complete(try await service.client.unlock([.login]).prompt)
        prompts?(prompter.questions.all)
        await prompter.crash()
        return !outcome.isDismissed
    }

    /// Creates a recovery key, as a program that shows it itself.
    private func makeKey(_ service: RunningService, label: String = "") async throws -> String {
        let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
        let session = try await service.client.openPlainSession()
        let key = try await service.client.makeRecoveryKey(of: .login, session: session, label: label)
        await prompter.crash()
        return String(decoding: key.value, as: UTF8.self)
    }

    @Test("List returns kind, time and label")
    func list_tellsKindTimeAndLabel() async throws {
        try await RunningService.withService { service in
            let before = try await service.client.slots(of: .login)
            #expect(before.map(\.kind) == ["password"])
            #expect(before[0].made > 1_700_000_000)
            _ = try await makeKey(service, label: "in the safe")
            let slots = try await service.client.slots(of: .login)
            #expect(slots.map(\.kind) == ["password", "recovery-key"])
            #expect(slots[1].label == "in the safe")
            let session = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/session")
            #expect(try await service.client.slots(of: session) == [])
        }
    }

    @Test("a recovery key typed instead of the password opens the keychain, and the user sets a new password")
    func recoveryKey_typedInPlaceOfThePassword_opens_andANewPasswordIsChosen() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("label", ["a": "b"], secret: "kept", session: session)
            let key = try await makeKey(service)
            let typed = key.lowercased().replacing("-", with: " ")
            let isOpen = try await isUnlocked(service, by: [.answer("forgotten"), .answer(typed), .answer("new")]) {
                #expect($0.count == 3)
                #expect($0.last?.properties["password-new"] == .boolean(true))
                #expect($0.last?.text("description")?.contains("recovery key") == true)
            }
            #expect(isOpen)
            #expect(try await client.secretText(of: item, session: session) == "kept")
            #expect(try await isUnlocked(service, by: [.answer("new")]))
            #expect(try await !isUnlocked(service, by: [.answer("password"), .cancel]))
            // The recovery key still works, and the user can keep the old password.
            #expect(try await isUnlocked(service, by: [.answer(key), .cancel]))
            #expect(try await isUnlocked(service, by: [.answer("new")]))
        }
    }

    @Test("a mistyped recovery key has its own message")
    func recoveryKey_mistyped_saysSo() async throws {
        try await RunningService.withService { service in
            var key = Array(try await makeKey(service))
            key[3] = key[3] == "7" ? "8" : "7"
            let isOpen = try await isUnlocked(service, by: [.answer(String(key)), .answer("password")]) {
                #expect($0.last?.text("warning") == "That looks like a recovery key, but a character in it is wrong.")
            }
            #expect(isOpen)
        }
    }

    @Test("a recovery key in an encrypted session is not on the bus in the clear")
    func makeRecoveryKey_overAnEncryptedSession_isNotOnTheBus() async throws {
        try await RunningService.withService { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let session = try await EncryptedSession(with: service.client)
            let secret = try await service.client.makeRecoveryKey(of: .login, session: session.path)
            let key = try session.decrypt(secret)
            #expect(key.count == 34)
            #expect(secret.value.firstRange(of: key) == nil)
            await prompter.crash()
            #expect(try await isUnlocked(service, by: [.answer(String(decoding: key, as: UTF8.self)), .cancel]))
        }
    }

    @Test("a refused recovery key is not created")
    func makeRecoveryKey_personRefuses_makesNone() async throws {
        try await RunningService.withService { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("wrong"), .cancel])
            let session = try await service.client.openPlainSession()
            await #expect(throws: BusError(.accessDenied, "")) {
                _ = try await service.client.makeRecoveryKey(of: .login, session: session)
            }
            #expect(try await service.client.slots(of: .login).count == 1)
            await prompter.crash()
        }
    }

    @Test("the dialog for a recovery key closes when its caller leaves")
    func makeRecoveryKey_callerLeaves_takesTheDialogAway() async throws {
        try await RunningService.withService { service in
            let prompter = try await FakePrompter(on: service.bus, [.hang])
            let leaving = try await service.makeClient()
            let session = try await leaving.openPlainSession()
            let call = Task { try await leaving.makeRecoveryKey(of: .login, session: session) }
            _ = try await prompter.questions.first("the question")
            await leaving.disconnect()
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            await #expect(throws: BusError.self) { _ = try await call.value }
            #expect(try await service.client.slots(of: .login).count == 1)
            await prompter.crash()
        }
    }

    @Test("a recovery key is shown once and counts after the user confirms the copy")
    func addRecoveryKey_isShownOnce_andCountsWhenItWasWrittenDown() async throws {
        try await RunningService.withService { service in
            let client = service.client
            for isWrittenDown in [false, true] {
                let last: PromptResponse = isWrittenDown ? .answer("") : .cancel
                let prompter = try await FakePrompter(on: service.bus, [.answer("password"), last])
                let prompt = try await client.addSlot("AddRecoveryKey", label: "paper", to: .login)
                #expect(try await client.complete(prompt).isDismissed != isWrittenDown)
                let shown = prompter.questions.all[1]
                #expect(shown.type == "confirm")
                #expect(shown.text("description")?.contains("Write it down") == true)
                let key = try #require(shown.text("message"))
                await prompter.crash()
                #expect(try await client.slots(of: .login).count == (isWrittenDown ? 2 : 1))
                #expect(try await isUnlocked(service, by: [.answer(key), .cancel]) == isWrittenDown)
                if !isWrittenDown { #expect(try await isUnlocked(service, by: [.answer("password")])) }
            }
            #expect(try await client.slots(of: .login)[1].label == "paper")
        }
    }

    @Test("slots can be added and removed, except for the last one")
    func addPassword_remove_andTheLastStays() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let prompter = try await FakePrompter(
                on: service.bus,
                [.answer("password"), .answer("second"), .answer("second")]
            )
            let prompt = try await client.addSlot("AddPassword", label: "spare", to: .login)
            #expect(try await !client.complete(prompt).isDismissed)
            await #expect(throws: BusError.noSuchObject) { _ = try await client.removeSlot(9, of: .login) }
            let removal = try await client.removeSlot(1, of: .login)
            #expect(try await !client.complete(removal).isDismissed)
            #expect(prompter.questions.all.last?.text("message")?.contains("Remove a password from") == true)
            await prompter.crash()
            #expect(try await client.slots(of: .login).map(\.number) == [2])
            await #expect(throws: BusError.notSupported) { _ = try await client.removeSlot(2, of: .login) }
            #expect(try await !isUnlocked(service, by: [.answer("password"), .cancel]))
            #expect(try await isUnlocked(service, by: [.answer("second")]))
        }
    }

    @Test("adding a host slot without a TPM is refused with the reason")
    func addHost_withoutATPM_isRefused_withTheReason() async throws {
        try await RunningService.withService { service in
            do throws(BusError) {
                _ = try await service.client.addSlot("AddHost", to: .login)
                Issue.record("it was not refused")
            } catch {
                #expect(error.name == .notSupported)
                #expect(error.message.contains("TPM"))
            }
        }
    }

    @Test("no slot can be added to a keychain without a password")
    func whereThereIsNoPassword_nothingCanBeAdded() async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let session = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/session")
            for path in [.login, session] {
                for member in ["AddPassword", "AddRecoveryKey", "AddHost"] {
                    await #expect(throws: BusError.notSupported) {
                        _ = try await service.client.addSlot(member, to: path)
                    }
                }
                await #expect(throws: BusError.notSupported) {
                    _ = try await service.client.removeSlot(1, of: path)
                }
            }
            let label = String(repeating: "x", count: 257)
            await #expect(throws: BusError.limitsExceeded) {
                _ = try await service.client.addSlot("AddPassword", label: label, to: .login)
            }
        }
    }
}
