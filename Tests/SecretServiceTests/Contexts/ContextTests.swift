import KeychaindDBus
import KeychaindTestSupport
import Testing

/// `org.keychaind.Authentication1` with the passcode.
struct ContextTests {
    @Test("an evaluation and an unlock take one dialog, also for a sealed item")
    func evaluate_thenUnlock_asksOnce() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let sealed = try await client.createProtectedItem("Sealed", [:], "devicePasscode", session: session)
            let context = try await ContextClient(client)
            try await context.evaluate(reason: "to pay")
            let question = try #require(prompter.questions.all.first)
            #expect(question.text("description")?.contains("to pay") == true)
            for unlocked in [item, sealed] {
                #expect(try await context.unlock([unlocked]) == ([unlocked], .root))
                #expect(try await client.secretText(of: unlocked, session: session) == "secret")
            }
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("an unlock without an evaluation shows the context's texts, and counts for a sealed item, too")
    func unlock_withoutEvaluation_asksWithTheContextsWords() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let first = try await client.createProtectedItem("First", ["n": "1"], session: session)
            let second = try await client.createProtectedItem("Second", ["n": "2"], session: session)
            let sealed = try await client.createProtectedItem("Third", ["n": "3"], "devicePasscode", session: session)
            let context = try await ContextClient(client)
            try await context.set("Reason", to: .string("to show it"))
            try await context.set("CancelTitle", to: .string("Rather not"))
            let (unlocked, prompt) = try await context.unlock([first])
            #expect(unlocked.isEmpty)
            #expect(try await client.complete(prompt).paths == [first.rawValue])
            let question = try #require(prompter.questions.all.first)
            #expect(question.text("description")?.contains("to show it") == true)
            #expect(question.text("cancel-label") == "Rather not")
            // The authentication counts again within the reuse time.
            #expect(try await context.unlock([second]).unlocked == [second])
            try await context.set("InteractionNotAllowed", to: .boolean(true))
            #expect(try await context.unlock([sealed]) == ([sealed], .root))
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("without reuse, one unlock permits one release", arguments: ["userPresence", "devicePasscode"])
    func reuseOfNothing_isOneUnlock_andOneRelease(accessControl: String) async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem("Bank", [:], accessControl, session: session)
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(0))
            try await context.evaluate()
            #expect(try await context.unlock([item]).unlocked == [item])
            #expect(try await client.secretText(of: item, session: session) == "secret")
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            #expect(try await context.unlock([item]).prompt != .root)
            #expect(client.lockNotices(of: item) == [false, true])
        }
    }

    @Test("a grant duration of zero permits one release, and the authentication stays")
    func grantDuration_ofNothing_isOneRelease_andTheProofStays() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(300_000))
            try await context.set("GrantDuration", to: .uint32(0))
            try await context.evaluate()
            for _ in 0..<3 {
                #expect(try await context.unlock([item]).unlocked == [item])
                #expect(try await client.secretText(of: item, session: session) == "secret")
                await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            }
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("the default grant duration is the reuse time")
    func grantDuration_untilItIsSet_isTheReuse() async throws {
        let context = try await ContextClient(SharedService.get().makeClient())
        #expect(try await context.grantDuration() == 10_000)
        try await context.set("ReuseDuration", to: .uint32(5000))
        #expect(try await context.grantDuration() == 5000)
        try await context.set("GrantDuration", to: .uint32(7000))
        try await context.set("ReuseDuration", to: .uint32(6000))
        #expect(try await context.grantDuration() == 7000)
        await #expect(throws: BusError.invalidArgs) { try await context.set("GrantDuration", to: .uint32(300_001)) }
    }

    @Test("interactionNotAllowed shows no dialog")
    func interactionNotAllowed_asksNobody() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            let context = try await ContextClient(client)
            try await context.set("InteractionNotAllowed", to: .boolean(true))
            await #expect(throws: BusError.authentication("NotInteractive")) { try await context.evaluate() }
            let (unlocked, prompt) = try await context.unlock([item])
            #expect(unlocked.isEmpty && prompt == .root)
            #expect(prompter.questions.count == 0)
        }
    }

    @Test("an evaluation ends with Cancel and Invalidate as appCancel, with a lock of login, and with its connection")
    func evaluation_ends() async throws {
        try await RunningService.withPrompter([.hang]) { service, prompter in
            for end in ["Cancel", "Invalidate", "lock", "disconnect"] {
                let client = try await service.makeClient()
                let context = try await ContextClient(client)
                let (asked, called) = (prompter.questions.count, prompter.calls.count)
                let evaluation = Task { try await context.evaluate() }
                _ = try await prompter.questions.first("the question", after: asked)
                await #expect(throws: BusError.authentication("InvalidContext")) { try await context.evaluate() }
                switch end {
                case "lock":
                    try await service.client.lock([.login])
                    await #expect(throws: BusError.authentication("SystemCancel")) { try await evaluation.value }
                    try await service.client.unlockWithMasterPassword(
                        .login,
                        .password("password", service.client.openPlainSession())
                    )
                case "disconnect":
                    await client.disconnect()
                    await #expect(throws: BusError.self) { try await evaluation.value }
                default:
                    try await context.call(end)
                    await #expect(throws: BusError.authentication("AppCancel")) { try await evaluation.value }
                }
                _ = try await prompter.calls.first("the end of the dialog", after: called) { $0 == "StopPrompting" }
            }
        }
    }

    @Test("an invalidated context dismisses its prompts and fails further calls")
    func invalidated_isInvalid_andItsPromptsAreDismissed() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            let context = try await ContextClient(client)
            let prompt = try await context.unlock([item]).prompt
            try await context.call("Invalidate")
            #expect(try await client.completion(of: prompt).isDismissed)
            await #expect(throws: BusError.authentication("InvalidContext")) { try await context.evaluate() }
            await #expect(throws: BusError.authentication("InvalidContext")) { try await context.unlock([item]) }
            #expect(prompter.questions.count == 0)
        }
    }

    @Test("another program's context does not exist")
    func context_ofAnother_doesNotExist() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(300_000))
            try await context.evaluate()
            let other = try await service.makeClient()
            for member in ["Unlock", "Invalidate", "Cancel"] {
                await #expect(throws: BusError.authentication("InvalidContext")) {
                    if member == "Unlock" {
                        try await other.call(context.path, ContextClient.contextInterface, member, [item])
                    } else {
                        try await other.call(context.path, ContextClient.contextInterface, member)
                    }
                }
            }
            #expect(try await other.introspect(context.path.parent).children.isEmpty)
            // The other program's claim of an authentication has no effect.
            #expect(try await other.isItemLocked(item))
            #expect(try await context.unlock([item]).unlocked == [item])
        }
    }

    @Test("a dialog cancelled by the user is userCancel, as an error or as the failure of a prompt")
    func cancelledByThePerson_isUserCancel() async throws {
        try await RunningService.withPrompter([.cancel, .cancel, .answer("password")]) { service, _ in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            let context = try await ContextClient(client)
            await #expect(throws: BusError.authentication("UserCancel")) { try await context.evaluate() }
            #expect(try await context.failure().isEmpty)
            #expect(try await client.complete(context.unlock([item]).prompt).isDismissed)
            #expect(try await context.failure() == "org.keychaind.Error.UserCancel")
            #expect(try await client.complete(context.unlock([item]).prompt).paths == [item.rawValue])
            #expect(try await context.failure().isEmpty)
        }
    }

    @Test("evaluating an access control satisfies it")
    func evaluate_anExpression_provesIt() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem("Sealed", [:], "devicePasscode", session: session)
            let context = try await ContextClient(client)
            try await context.evaluate("biometryAny or devicePasscode")
            #expect(try await context.unlock([item]).unlocked == [item])
            #expect(prompter.questions.count == 1)
            #expect(try await client.canEvaluate("devicePasscode").possible)
            let finger = try await client.canEvaluate("biometryCurrentSet")
            #expect(finger.error == "org.keychaind.Error.BiometryNotAvailable")
            for policy in ["applicationPassword", "devicePasscode and applicationPassword", "devicePasscode or", ""] {
                await #expect(throws: BusError.invalidArgs) { try await context.evaluate(policy) }
            }
        }
    }

    @Test("the number of contexts is limited")
    func contexts_areBounded() async throws {
        let service = try await SharedService.get()
        let client = try await service.makeClient()
        for _ in 0..<64 { _ = try await ContextClient(client) }
        await #expect(throws: BusError.limitsExceeded) { try await ContextClient(client) }
        _ = try await ContextClient(service.makeClient())
    }

    @Test("invalid values are refused")
    func badValues_areRefused() async throws {
        let context = try await ContextClient(SharedService.get().makeClient())
        await #expect(throws: BusError.invalidArgs) { try await context.evaluate("deviceOwner") }
        await #expect(throws: BusError.invalidArgs) { try await context.set("ReuseDuration", to: .uint32(300_001)) }
        await #expect(throws: BusError.limitsExceeded) {
            try await context.set("Reason", to: .string(String(repeating: "x", count: 1001)))
        }
        await #expect(throws: BusError.limitsExceeded) {
            try await context.evaluate(reason: String(repeating: "x", count: 1001))
        }
    }

    @Test("CanEvaluate returns the missing prerequisite")
    func canEvaluate_tellsWhatStandsInTheWay() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let owner = try await client.canEvaluate("deviceOwnerAuthentication")
            #expect(owner.possible && owner.error.isEmpty && owner.biometry == "none")
            let finger = try await client.canEvaluate("deviceOwnerAuthenticationWithBiometrics")
            #expect(!finger.possible && finger.error == "org.keychaind.Error.BiometryNotAvailable")
        }
        try await RunningService.withService { service in
            let owner = try await service.client.canEvaluate("deviceOwnerAuthentication")
            #expect(owner.error == "org.keychaind.Error.NotInteractive")
        }
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let owner = try await service.client.canEvaluate("deviceOwnerAuthentication")
            #expect(owner.error == "org.keychaind.Error.PasscodeNotSet")
        }
    }
}
