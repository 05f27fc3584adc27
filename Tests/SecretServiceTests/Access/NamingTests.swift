import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A dialog names every item, the action, and what else it permits for how long.
struct NamingTests {
    @Test("the dialog of a locked keychain names the items; one that was never unlocked asks for the passcode again")
    func lockedKeychain_itsDialogNamesTheItems() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let bank = try await client.createProtectedItem("Bank", ["n": "1"], session: session)
            let sealed = try await client.createProtectedItem("Sealed", ["n": "2"], "devicePasscode", session: session)
            try await client.lock([.login])
            #expect(try await service.unlock([bank, sealed], as: client).paths == [bank, sealed].map(\.rawValue))
            #expect(try await client.secretText(of: sealed, session: session) == "secret")
            // Its items are unknown.
            try await service.restartLocked()
            #expect(try await service.unlock([bank], as: client).paths == [bank.rawValue])
            #expect(
                prompter.questions.all.map(\.wish) == [
                    "unlock the keychain “Login” and use “Bank”, “Sealed”", "unlock the keychain “Login”", "use “Bank”",
                ]
            )
            #expect(prompter.questions.all.last?.text("description")?.contains("Keychain: “Login”") == true)
        }
    }

    @Test("in a context, the dialog says what else it permits")
    func lockedKeychain_inAContext_saysWhatElseIsGiven() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let bank = try await client.createProtectedItem("Bank", session: client.openPlainSession())
            let context = try await ContextClient(client)
            try await client.lock([.login])
            #expect(try await client.complete(context.unlock([bank]).prompt).paths == [bank.rawValue])
            #expect(
                prompter.questions.all.first?.wish
                    == "unlock the keychain “Login”, use “Bank”, and every item that your password protects, for 10 seconds"
            )
        }
    }

    @Test("the dialog of an evaluation says what it permits")
    func evaluation_saysWhatItGives() async throws {
        try await RunningService.withPrompter { service, prompter in
            var expected: [String] = []
            for (reuse, time) in [
                (0, "once"), (1, "for one second"), (10_000, "for 10 seconds"), (300_000, "for 5 minutes"),
            ] {
                for policy in ["deviceOwnerAuthentication", "devicePasscode"] {
                    let context = try await ContextClient(service.client)
                    try await context.set("ReuseDuration", to: .uint32(UInt32(reuse)))
                    try await context.evaluate(policy)
                }
                let verb = reuse == 0 ? "use" : "use or change"
                for means in ["your fingerprint or password protects", "your password protects"] {
                    expected.append("know that it is you, and \(verb) every item that \(means), \(time)")
                }
            }
            #expect(prompter.questions.all.map(\.wish) == expected)
        }
    }

    @Test("the dialog of an unlock in a context says what else it permits")
    func unlockInAContext_saysWhatElseItGives() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem("Weather", session: client.openPlainSession())
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(0))
            _ = try await client.complete(context.unlock([item]).prompt)
            try await client.lock([item])
            try await context.set("ReuseDuration", to: .uint32(300_000))
            _ = try await client.complete(context.unlock([item]).prompt)
            let all = "use “Weather”, and every item that your fingerprint or password protects, for 5 minutes"
            #expect(prompter.questions.all.map(\.wish) == ["use “Weather”", all])
        }
    }

    @Test("many items are all named, in several dialogs if necessary")
    func manyItems_areNamedOneByOne_inAsManyDialogsAsThatTakes() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            var items: [ObjectPath] = []
            var labels: [String] = []
            for number in 0..<30 {
                labels.append("Weather of station \(number)")
                items.append(try await client.createProtectedItem(labels[number], ["n": "\(number)"], session: session))
            }
            #expect(try await service.unlock(items, as: client).paths == items.map(\.rawValue))
            let messages = prompter.questions.all.compactMap { $0.text("message") }
            #expect(messages.count > 1 && messages.allSatisfy { $0.utf8.count < 400 })
            for label in labels {
                #expect(messages.contains { $0.contains("“\(label)”") })
            }
        }
    }

    @Test("after a dismissal, only items of approved dialogs are granted")
    func manyItems_dismissed_onlyThoseThatWereNamedAreGranted() async throws {
        try await RunningService.withPrompter([.answer("password"), .cancel]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            var items: [ObjectPath] = []
            for number in 0..<20 {
                items.append(
                    try await client.createProtectedItem(
                        "Weather of station \(number)",
                        ["n": "\(number)"],
                        session: session
                    )
                )
            }
            let bank = try await client.createProtectedItem("Bank", session: session)
            let granted = try #require(try await service.unlock(items + [bank], as: client).paths)
            #expect(try await client.isItemLocked(bank))
            let message = try #require(prompter.questions.all.first?.wish)
            #expect(message.split(separator: "“").count - 1 == granted.count && !message.contains("Bank"))
        }
    }

    @Test("the dialog says when an item is deleted or replaced")
    func deletingAndReplacing_areCalledThat() async throws {
        try await RunningService.withPrompter([.cancel]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem("Bank", session: session)
            #expect(try await client.complete(client.deleteItem(item)).isDismissed)
            let properties = SecretServiceProxy.itemProperties(label: "New", ["service": "bank"])
            let secret = WireSecret(session: session, value: [1])
            let prompt = try await client.createItem(properties: properties, secret: secret, replace: true).prompt
            #expect(try await client.complete(prompt).isDismissed)
            #expect(prompter.questions.all.map(\.wish) == ["delete “Bank”", "replace “Bank”"])
        }
    }
}
