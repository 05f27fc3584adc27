import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Key slots of security keys: libfido2, in the daemon's helper, speaks CTAP2 with a virtual authenticator.
struct SecurityKeyTests {
    /// A daemon that uses the keys of these ports; `login` has the password "password".
    private func run(_ body: (RunningService, SecurityKeyPorts) async throws -> Void) async throws {
        let ports = try SecurityKeyPorts()
        let folder = try ConfigurationFolder(ports.configuration)
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in try await body(service, ports) }
    }

    /// Adds the key that is plugged in; the text is the reason of a failure.
    private func add(
        _ service: RunningService,
        label: String = "",
        pin: Bool = false,
        answers: [PromptResponse] = [.answer("password")]
    ) async throws -> (isAdded: Bool, reason: Variant) {
        let prompter = try await FakePrompter(on: service.bus, answers)
        await prompter.ignoreConfirmations()
        let prompt = try await service.client.addSecurityKey(label: label, pin: pin, to: .login)
        let outcome = try await service.client.complete(prompt)
        try await prompter.end()
        return (!outcome.isDismissed, outcome.result)
    }

    /// Starts to unlock `login`, and waits for the first dialog.
    private func startUnlocking(
        _ service: RunningService,
        _ answers: [PromptResponse] = [.hang]
    ) async throws -> (prompter: FakePrompter, prompt: ObjectPath) {
        try await service.client.lock([.login])
        let prompter = try await FakePrompter(on: service.bus, answers)
        await prompter.ignoreConfirmations()
        let prompt = try await service.client.unlock([.login]).prompt
        try await service.client.show(prompt)
        _ = try await prompter.questions.first("the dialog")
        return (prompter, prompt)
    }

    /// Waits for a dialog, or its revision, with the warning.
    private func expect(_ warning: String, from prompter: FakePrompter) async throws {
        _ = try await prompter.questions.first("the warning") { $0.text("warning") == warning }
    }

    private func isUnlocked(_ service: RunningService, _ prompt: ObjectPath) async throws -> Bool {
        try await !service.client.completion(of: prompt).isDismissed
    }

    // MARK: A touch

    @Test("a touch opens the keychain while its password is asked for")
    func unlock_touched_opens_andTheDialogCloses() async throws {
        try await run { service, ports in
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createItem("label", ["a": "b"], secret: "kept", session: session)
            let key = try await ports.plugIn("key")
            try key.touch(times: 2)
            #expect(try await add(service, label: "blue key").isAdded)
            let slots = try await service.client.slots(of: .login)
            #expect(slots.map(\.kind) == ["password", "security-key"])
            #expect(slots.last?.label == "blue key")
            let events = key.events
            let (prompter, prompt) = try await startUnlocking(service)
            #expect(prompter.questions.all[0].text("description")?.contains("touch your security key") == true)
            try await key.waits(after: events)
            try key.touch()
            #expect(try await isUnlocked(service, prompt))
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(try await service.client.secretText(of: item, session: session) == "kept")
            #expect(try await service.client.unlockedBy(.login) == .string("security-key"))
            try await prompter.end()
            // After the removal of the slot, the key is not asked.
            let removing = try await FakePrompter(on: service.bus, [.answer("password")])
            let removal = try await service.client.removeSlot(2, of: .login)
            #expect(try await !service.client.complete(removal).isDismissed)
            try await removing.end()
            let asked = key.events
            let (last, lastPrompt) = try await startUnlocking(service, [.answer("password")])
            #expect(last.questions.all[0].text("description")?.contains("security key") == false)
            #expect(try await isUnlocked(service, lastPrompt))
            #expect(key.events == asked)
            try await last.end()
        }
    }

    @Test("the password opens the keychain while the key blinks, and the key stops")
    func unlock_passwordTyped_cancelsTheKey() async throws {
        try await run { service, ports in
            let key = try await ports.plugIn("key")
            try key.touch(times: 2)
            #expect(try await add(service).isAdded)
            let events = key.events
            let (prompter, prompt) = try await startUnlocking(service, [.hang])
            try await key.waits(after: events)
            try await service.client.dismiss(prompt)
            #expect(try await !isUnlocked(service, prompt))
            try await key.isCancelled(after: events)
            try await prompter.end()
            let (typing, second) = try await startUnlocking(service, [.answer("wrong"), .answer("password")])
            #expect(try await isUnlocked(service, second))
            try await typing.end()
        }
    }

    @Test("a key is asked for nothing when the client leaves")
    func unlock_clientLeaves_cancelsTheKey() async throws {
        try await run { service, ports in
            let key = try await ports.plugIn("key")
            try key.touch(times: 2)
            #expect(try await add(service).isAdded)
            try await service.client.lock([.login])
            let events = key.events
            let prompter = try await FakePrompter(on: service.bus, [.hang])
            let leaving = try await service.makeClient()
            try await leaving.show(try await leaving.unlock([.login]).prompt)
            try await key.waits(after: events)
            await leaving.disconnect()
            try await key.isCancelled(after: events)
            try await prompter.end()
        }
    }

    @Test("a key that is plugged in during the dialog is asked, after another one and one that was taken out")
    func unlock_keyPluggedInLater_isAsked() async throws {
        try await run { service, ports in
            var key = try await ports.plugIn("key")
            try key.touch(times: 2)
            #expect(try await add(service).isAdded)
            try await key.unplug()
            let foreign = try await ports.plugIn("foreign")
            let (prompter, prompt) = try await startUnlocking(service)
            try await expect("The security key that is plugged in does not open this keychain.", from: prompter)
            #expect(!foreign.hasBlinked)
            // While it is there, the dialog says so again.
            try await foreign.unplug()
            key = try await ports.plugIn("key")
            try await key.waits()
            try await key.unplug()
            try await expect("The security key was taken out.", from: prompter)
            key = try await ports.plugIn("key")
            try key.touch()
            #expect(try await isUnlocked(service, prompt))
            try await prompter.end()
        }
    }

    @Test("a key that gives no answer at first is asked again, also beside one that does not open the keychain")
    func unlock_keyWithoutAnswer_isAskedAgain() async throws {
        try await run { service, ports in
            var key = try await ports.plugIn("key")
            try key.touch(times: 2)
            #expect(try await add(service).isAdded)
            try await key.unplug()
            let foreign = try await ports.plugIn("foreign")
            try ports.plugInSilent("key")
            let (prompter, prompt) = try await startUnlocking(service)
            try await expect("The security key was taken out.", from: prompter)
            key = try await ports.plugIn("key")
            try key.touch()
            #expect(try await isUnlocked(service, prompt))
            #expect(!foreign.hasBlinked)
            try await prompter.end()
        }
    }

    @Test("each of several keys opens the keychain")
    func unlock_secondKey_opens() async throws {
        try await run { service, ports in
            let first = try await ports.plugIn("first")
            try first.touch(times: 2)
            #expect(try await add(service).isAdded)
            try await first.unplug()
            let second = try await ports.plugIn("second")
            try second.touch(times: 2)
            #expect(try await add(service).isAdded)
            let (prompter, prompt) = try await startUnlocking(service)
            try second.touch()
            #expect(try await isUnlocked(service, prompt))
            try await prompter.end()
        }
    }

    // MARK: A PIN

    @Test("a slot with a PIN asks for it after an empty password")
    func unlock_withPIN_asksAfterAnEmptyPassword() async throws {
        try await run { service, ports in
            let key = try await ports.plugIn("key")
            try key.set(pin: "1234")
            try key.touch(times: 2)
            #expect(try await add(service, pin: true, answers: [.answer("password"), .answer("1234")]).isAdded)
            try key.touch()
            let (prompter, prompt) = try await startUnlocking(
                service,
                [.answer(""), .answer("4321"), .answer("1234")]
            )
            try await expect("That was not the PIN of the security key. 7 tries are left.", from: prompter)
            #expect(try await isUnlocked(service, prompt))
            try await prompter.end()
            // A touch alone is no answer.
            let (other, otherPrompt) = try await startUnlocking(service, [.answer("password")])
            #expect(other.questions.all[0].text("description")?.contains("leave the password empty") == true)
            #expect(try await isUnlocked(service, otherPrompt))
            try await other.end()
        }
    }

    @Test("after three wrong PINs the key has to be plugged in again, after eight it is blocked; the password opens")
    func unlock_wrongPINs_areTheKeysToCount() async throws {
        try await run { service, ports in
            var key = try await ports.plugIn("key")
            try key.set(pin: "1234")
            try key.touch(times: 2)
            #expect(try await add(service, pin: true, answers: [.answer("password"), .answer("1234")]).isAdded)
            for round in 0..<3 {
                let wrong = [PromptResponse](repeating: .answer("0000"), count: round < 2 ? 3 : 2)
                let (prompter, prompt) = try await startUnlocking(
                    service,
                    [.answer("")] + wrong + [.answer("password")]
                )
                #expect(try await isUnlocked(service, prompt))
                try await expect(
                    round < 2
                        ? "Too many PINs were wrong. Take the security key out and plug it in again."
                        : "The PIN of the security key is blocked. Only a reset of the key helps, which erases it.",
                    from: prompter
                )
                try await prompter.end()
                try await key.unplug()
                key = try await ports.plugIn("key")
            }
        }
    }

    @Test("a key with a PIN gives no slot without it, and a PIN goes to no key that may be another")
    func unlock_withPIN_severalKeys_asksNone() async throws {
        try await run { service, ports in
            let key = try await ports.plugIn("key")
            try key.set(pin: "1234")
            try key.touch(times: 2)
            #expect(try await add(service, pin: true, answers: [.answer("password"), .answer("1234")]).isAdded)
            let other = try await ports.plugIn("other")
            try other.set(pin: "1234")
            let (prompter, prompt) = try await startUnlocking(
                service,
                [.answer(""), .answer("1234"), .answer("password")]
            )
            try await expect(
                "Several security keys are plugged in. Leave only the one for this keychain.",
                from: prompter
            )
            #expect(try await isUnlocked(service, prompt))
            #expect(!other.hasBlinked)
            try await prompter.end()
        }
    }

    @Test("the waiting dialog for a touch after the PIN can be cancelled, or left for the password")
    func unlock_withPIN_cancelled_stopsTheKey() async throws {
        try await run { service, ports in
            let key = try await ports.plugIn("key")
            try key.set(pin: "1234")
            try key.touch(times: 2)
            #expect(try await add(service, pin: true, answers: [.answer("password"), .answer("1234")]).isAdded)
            // The first button of the waiting dialog is that for the password.
            for button in ["yes", "no"] {
                let events = key.events
                let (prompter, prompt) = try await startUnlocking(
                    service,
                    [.answer(""), .answer("1234"), .answer("password")]
                )
                let dialog = try await prompter.questions.first("the waiting dialog") { $0.type == "confirm" }
                try await key.waits(after: events)
                await prompter.say(button, exchange: "[sx-aes-1]\npublic=Ag==\n", to: dialog)
                #expect(try await isUnlocked(service, prompt) == (button == "yes"))
                try await key.isCancelled(after: events)
                try await prompter.end()
            }
        }
    }

    // MARK: Adding

    @Test("a slot without the PIN of a key that has one takes the PIN once")
    func add_keyWithPIN_withoutPINSlot_takesItOnce() async throws {
        try await run { service, ports in
            let key = try await ports.plugIn("key")
            try key.set(pin: "1234")
            try key.touch(times: 2)
            let answers: [PromptResponse] = [.answer("password"), .answer("9999"), .answer("1234")]
            #expect(try await add(service, answers: answers).isAdded)
            try key.touch()
            let (prompter, prompt) = try await startUnlocking(service)
            #expect(try await isUnlocked(service, prompt))
            try await prompter.end()
        }
    }

    @Test("what cannot be added is refused with the reason")
    func add_impossible_saysWhy() async throws {
        try await run { service, ports in
            func reason(pin: Bool = false) async throws -> String {
                let (isAdded, reason) = try await add(service, pin: pin)
                #expect(!isAdded)
                guard case .string(let text) = reason else { return "" }
                return text
            }
            #expect(try await reason() == "No security key is plugged in.")
            let key = try await ports.plugIn("key")
            #expect(try await reason(pin: true).hasPrefix("This security key has no PIN."))
            try key.touch(times: 2)
            #expect(try await add(service).isAdded)
            try key.touch()
            #expect(try await reason() == "This security key opens the keychain already.")
            let poor = try await ports.plugIn("poor")
            try poor.remove(extension: "hmac-secret")
            try await key.unplug()
            #expect(try await reason().contains("lacks the extension hmac-secret"))
            let third = try await ports.plugIn("third")
            let fourth = try await ports.plugIn("fourth")
            #expect(try await reason().hasPrefix("Several security keys are plugged in."))
            try await fourth.unplug()
            try third.answer(with: [0x00, 0xa1, 0xff, 0xff])
            _ = try await reason()
            #expect(try await service.client.slots(of: .login).count == 2)
        }
    }
}

extension SecretServiceProxy {
    /// The kind of key slot that opened a collection.
    fileprivate func unlockedBy(_ collection: ObjectPath) async throws -> Variant {
        try await call(
            collection,
            "org.freedesktop.DBus.Properties",
            "Get",
            "org.keychaind.Collection1",
            "UnlockedBy"
        )
        .read(Variant.self)
    }

    /// Adds a slot of the security key that is plugged in, and returns its prompt.
    func addSecurityKey(label: String, pin: Bool, to collection: ObjectPath) async throws(BusError) -> ObjectPath {
        try await call(collection, Self.keySlots, "AddSecurityKey", label, pin).read(ObjectPath.self)
    }
}
