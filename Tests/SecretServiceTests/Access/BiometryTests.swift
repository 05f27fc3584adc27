import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Items and contexts with a fingerprint reader: the real fprintd with libfprint's virtual reader.
struct BiometryTests {
    @Test("the owner's finger unlocks the item and closes the dialog")
    func touchOfTheOwner_releases_andTheDialogGoes() async throws {
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "biometryAny", session: session)
            try await reader.touch("owner")
            #expect(try await client.completion(of: prompt).paths == [item.rawValue])
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("the passcode is accepted instead of a finger")
    func passcode_isTakenInsteadOfAFinger() async throws {
        try await RunningService.withReader([.answer("password")]) { service, reader, prompter in
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
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "userPresence", session: session)
            try await reader.waitUntilReady()
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).isDismissed)
            #expect(try await client.isItemLocked(item))
            try await client.roundTrip()
            #expect(client.completions.count == 1)
        }
    }

    @Test("a context authenticated by finger unlocks without a dialog")
    func context_provedByAFinger_unlocksWithoutAsking() async throws {
        try await RunningService.withReader { service, reader, prompter in
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

    @Test("the fallback button ends with userFallback")
    func fallback_isUserFallback() async throws {
        try await RunningService.withReader([.answer("")]) { service, reader, prompter in
            let context = try await ContextClient(service.client)
            try await context.set("FallbackTitle", to: .string("My own way"))
            await #expect(throws: BusError.authentication("UserFallback")) {
                try await context.evaluate("deviceOwnerAuthenticationWithBiometrics")
            }
            #expect(prompter.questions.all.first?.text("continue-label") == "My own way")
        }
    }

    @Test("unplugging the reader dismisses the prompt and releases nothing")
    func unplugged_whileMatching_dismisses_andReleasesNothing() async throws {
        try await RunningService.withReader { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "biometryAny", session: session)
            try await reader.waitUntilReady()
            try await reader.unplug()
            #expect(try await client.completion(of: prompt).isDismissed)
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(try await client.isItemLocked(item))
        }
    }

    @Test("after the reader is unplugged, the passcode still works")
    func unplugged_whileMatching_leavesThePasscode() async throws {
        try await RunningService.withReader([.hang, .answer("password")]) { service, reader, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let (item, prompt) = try await client.unlockPrompt(ofNewItem: "userPresence", session: session)
            try await reader.waitUntilReady()
            try await reader.unplug()
            #expect(try await client.completion(of: prompt).paths == [item.rawValue])
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }
}
