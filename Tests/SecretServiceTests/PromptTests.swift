import Glibc
import KeychaindDBus
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

struct PromptTests {
    @Test("--prompters none shows no dialog, even if there is a prompter")
    func promptersNone_asksNobody_evenWhereOneIs() async throws {
        var options = KeychainDaemon.Options()
        options.arguments = ["--prompters", "none"]
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            #expect(try await service.unlock([item], as: client).isDismissed)
            #expect(prompter.calls.count == 0)
            await prompter.crash()
        }
    }

    @Test("#115 #118 #123 nothing happens until Prompt is called, and Dismiss before it completes as dismissed")
    func prompt_notRun_doesNothing() async throws {
        try await withLockedLogin { service, prompter in
            let client = service.client
            let (dismissed, prompt) = (
                try await client.unlock([.login]).prompt, try await client.unlock([.login]).prompt
            )
            try await client.dismiss(dismissed)
            let outcome = try await client.completion(of: dismissed)
            #expect(outcome == PromptOutcome(isDismissed: true, result: .objectPaths([])))
            #expect(prompter.questions.count == 0 && prompter.calls.count == 0)
            #expect(try await client.isCollectionLocked(.login))
            #expect(try await client.complete(prompt).paths == [ObjectPath.login.rawValue])
        }
    }

    @Test("#48 #116 any window id is accepted, also of another type, and ignored if it is too long")
    func prompt_anyWindow_isTaken() async throws {
        try await withLockedLogin { service, prompter in
            let client = service.client
            let long = String(repeating: "9", count: 257)
            let windows = ["", "0", "123456", "x11:1a2b", "wayland:9f-Handle_x", "ключ 🔑", long]
            for window in windows {
                #expect(try await !client.complete(client.unlock([.login]).prompt, window: window).isDismissed)
                try await client.lock([.login])
            }
            // The false of an Emacs in a terminal.
            let prompt = try await client.unlock([.login]).prompt
            try await client.call(prompt, Interface.prompt, "Prompt", false)
            #expect(try await !client.completion(of: prompt).isDismissed)
            let shown = prompter.questions.all.map { $0.text("caller-window") }
            #expect(shown == windows.dropLast() + ["", ""])
        }
    }

    @Test("a dialog names the calling program and the evidence for it")
    func prompt_anyDialog_namesTheCaller() async throws {
        try await withLockedLogin { service, prompter in
            _ = try await service.client.complete(service.client.unlock([.login]).prompt)
            let question = try await prompter.questions.first("the question")
            let message = try #require(question.text("message"))
            #expect(message.hasSuffix(" wants to unlock the keychain “Login”"))
            let story = try #require(question.text("description"))
            #expect(story.contains("\n\nDetails: “/") && story.contains("” (process \(getpid())), which "))
        }
    }

    @Test("#117 #124 #126 #43 Prompt returns at once, before Completed, and a second one is AlreadyExists")
    func prompt_returnsAtOnce() async throws {
        try await withLockedLogin([.hang]) { service, prompter in
            let client = service.client
            let prompt = try await client.unlock([.login]).prompt
            try await client.show(prompt)
            await #expect(throws: BusError.alreadyExists) { try await client.show(prompt) }
            _ = try await prompter.questions.first("the question")
            await #expect(throws: BusError.alreadyExists) { try await client.show(prompt) }
            #expect(client.completions.isEmpty)
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).isDismissed)
            #expect(client.completions.count == 1)
        }
    }

    @Test("#118 #123 Dismiss closes an open dialog, and the result has the right type")
    func dismiss_duringDialog_closesIt() async throws {
        try await withLockedLogin([.hang]) { service, prompter in
            let client = service.client
            let work = try await client.createCollection([:]).prompt
            let unlock = try await client.unlock([.login]).prompt
            let delete = try await client.deleteCollection(.login)
            for (prompt, result) in [
                (work, .objectPath(.root)), (unlock, .objectPaths([])), (delete, .string("")),
            ] as [(ObjectPath, Variant)] {
                let mark = prompter.questions.count
                try await client.show(prompt)
                _ = try await prompter.questions.first("the question", after: mark)
                try await client.dismiss(prompt)
                #expect(
                    try await client.completion(of: prompt) == PromptOutcome(isDismissed: true, result: result)
                )
                _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            }
            #expect(try await client.collections().count == 2)
        }
    }

    @Test("#119 #125 a completed prompt does not exist any more")
    func completedPrompt_isGone() async throws {
        try await withLockedLogin { service, _ in
            let client = service.client
            let prompt = try await client.unlock([.login]).prompt
            #expect(try await client.introspect(prompt.parent).children == [prompt.name])
            _ = try await client.complete(prompt)
            await #expect(throws: BusError.unknownObject) { try await client.dismiss(prompt) }
            await #expect(throws: BusError.unknownObject) { try await client.show(prompt) }
            await #expect(throws: BusError.unknownObject) { try await client.introspect(prompt) }
            #expect(try await client.introspect(prompt.parent).children.isEmpty)
        }
    }

    @Test("#120 a client's prompts and dialog end with its connection")
    func client_thatVanishes_takesItsPrompts() async throws {
        try await withLockedLogin([.hang]) { service, prompter in
            let client = try await service.makeClient()
            let shown = try await client.unlock([.login]).prompt
            _ = try await client.unlock([.login])
            try await client.show(shown)
            _ = try await prompter.questions.first("the question")
            await client.disconnect()
            _ = try await prompter.calls.first("the end of the dialog") { $0 == "StopPrompting" }
            #expect(try await service.client.isCollectionLocked(.login))
            await #expect(throws: BusError.unknownObject) { try await service.client.show(shown) }
        }
    }

    @Test("#121 #122 another client's prompt does not exist, and its Completed goes only to its owner")
    func prompt_ofAnother_isUnknown() async throws {
        try await withLockedLogin { service, prompter in
            let (client, other) = (service.client, try await service.makeClient())
            let prompt = try await client.unlock([.login]).prompt
            await #expect(throws: BusError.unknownObject) { try await other.show(prompt) }
            await #expect(throws: BusError.unknownObject) { try await other.dismiss(prompt) }
            await #expect(throws: BusError.unknownObject) { try await other.introspect(prompt) }
            #expect(try await !other.introspect(prompt.parent).children.contains(prompt.name))
            #expect(prompter.questions.count == 0)
            #expect(try await client.complete(prompt).paths == [ObjectPath.login.rawValue])
            try await other.roundTrip()
            #expect(other.signals.count > 0)
            #expect(other.completions.isEmpty && client.completions.count == 1)
        }
    }

    @Test("#71 #118 #123 #127 Completed is sent exactly once, whatever a person or the prompter does")
    func prompter_misbehaves_completedComes() async throws {
        let misbehaviours: [PromptResponse] = [
            .cancel, .withdraw, .crash, .refuse, .says("", exchange: ""), .says("yes", exchange: ""),
            .says("yes", exchange: "[sx-aes-1]\npublic=AA==\n"), .says("no", exchange: "nonsense"),
        ]
        try await RunningService.withService { service in
            let client = service.client
            try await client.lock([.login])
            for (number, response) in misbehaviours.enumerated() {
                let prompter = try await FakePrompter(on: service.bus, [response, .cancel])
                let outcome = try await client.complete(client.unlock([.login]).prompt)
                #expect(outcome == PromptOutcome(isDismissed: true, result: .objectPaths([])), "\(response)")
                try await client.roundTrip()
                #expect(client.completions.count == number + 1, "\(response)")
                await prompter.crash()
            }
            #expect(try await client.isCollectionLocked(.login))
        }
    }

    @Test("#127 without a prompter, Completed is sent at once, and the log says what to do")
    func noPrompter_completedComes() async throws {
        try await RunningService.withService { service in
            let client = service.client
            try await client.lock([.login])
            for _ in 0..<2 {
                let outcome = try await client.complete(client.unlock([.login]).prompt)
                #expect(outcome.isDismissed && outcome.paths == [])
            }
            let line = try await service.daemon.child.standardError.lines.first("the line in the log") {
                $0.contains("prompt")
            }
            #expect(!line.isEmpty)
        }
    }

    @Test("#120 #127 concurrent prompts of several clients complete independently")
    func prompts_atOnce_completeEach() async throws {
        try await withLockedLogin { service, prompter in
            var prompts: [(SecretServiceProxy, ObjectPath)] = []
            for _ in 0..<6 {
                let client = try await service.makeClient()
                prompts.append((client, try await client.unlock([.login]).prompt))
            }
            let outcomes = prompts.map { client, prompt in Task { try await client.complete(prompt) } }
            for outcome in outcomes {
                let outcome = try await outcome.value
                #expect(!outcome.isDismissed && outcome.paths == [ObjectPath.login.rawValue])
            }
            // The second client is not asked for the same password again.
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("#118 #120 #127 a prompt that waits for another dialog can be dismissed, and is shown after that one")
    func prompts_secondWaits_canBeDismissed_orIsShown() async throws {
        try await withLockedLogin([.hang, .answer("password")]) { service, prompter in
            let (first, second) = (service.client, try await service.makeClient())
            let firstPrompt = try await first.unlock([.login]).prompt
            let (dismissed, shown) = (
                try await second.unlock([.login]).prompt, try await second.unlock([.login]).prompt
            )
            try await first.show(firstPrompt)
            _ = try await prompter.questions.first("the first dialog")
            try await second.show(dismissed)
            try await second.dismiss(dismissed)
            #expect(try await second.completion(of: dismissed).isDismissed)
            try await second.show(shown)
            try await second.roundTrip()
            #expect(first.completions.isEmpty && prompter.questions.count == 1)
            try await first.dismiss(firstPrompt)
            #expect(try await first.completion(of: firstPrompt).isDismissed)
            #expect(try await second.completion(of: shown).paths == [ObjectPath.login.rawValue])
            #expect(prompter.questions.count == 2)
        }
    }

    @Test("#90 #127 a prompt leaves out deleted collections; without another one it is dismissed, without a dialog")
    func prompt_collectionWasDeleted_completes() async throws {
        try await withLockedLogin { service, prompter in
            let client = service.client
            let properties = SecretServiceProxy.collectionProperties(label: "Work")
            let work = try #require(try await client.complete(client.createCollection(properties).prompt).path)
            try await client.lock([work])
            let (both, late) = (
                try await client.unlock([work, .login]).prompt, try await client.unlock([.login]).prompt
            )
            #expect(try await !client.complete(client.deleteCollection(work)).isDismissed)
            #expect(try await client.complete(both).paths == [ObjectPath.login.rawValue])
            #expect(try await !client.complete(client.deleteCollection(.login)).isDismissed)
            let asked = prompter.questions.count
            #expect(try await client.complete(late).isDismissed)
            #expect(prompter.questions.count == asked)
        }
    }

    @Test("#89 #118 a deletion dismissed after the answer does not happen", .onLoop)
    @BusActor
    func dismiss_afterTheAnswer_keepsTheCollection() async throws {
        let service = try await ProviderInProcess()
        let (client, login) = (service.client, try service.collection(.login))
        // The password that is typed waits for it.
        let host = WaitingHost()
        let holding = Task.immediate { @BusActor in
            try await login.addHost(host, openedBy: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        _ = try await host.calls.first("the derivation before") { _ in true }
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let prompt = try await client.deleteCollection(.login)
        try await client.show(prompt)
        _ = try await prompter.questions.first("the question") { _ in true }
        // Answered after the person's answer has arrived.
        #expect(await prompter.error(of: .toService(.service, StandardInterface.peer, "Ping")) == nil)
        try await client.dismiss(prompt)
        host.open()
        try await holding.value
        #expect(try await client.completion(of: prompt) == PromptOutcome(isDismissed: true, result: .string("")))
        #expect(try await service.opens(ProviderInProcess.password, login))
        #expect(!client.signals.all.contains { $0.member == "CollectionDeleted" })
        await service.vault.close()
    }

    @Test("#125 a Dismiss that crosses the answer causes one Completed")
    func dismiss_crossingTheAnswer_completesOnce() async throws {
        // Checking a password takes its real time, in which the prompt can be dismissed.
        let options = KeychainDaemon.Options(keychain: .none)
        try await withLockedLogin([.answer("password")], options) { service, prompter in
            let client = service.client
            for round in 0..<4 {
                let prompt = try await client.unlock([.login]).prompt
                if prompt == .root { break }
                let mark = prompter.questions.count
                try await client.show(prompt)
                if round % 2 == 0 { _ = try await prompter.questions.first("the question", after: mark) }
                do throws(BusError) {
                    try await client.dismiss(prompt)
                } catch {
                    #expect(error == .unknownObject)
                }
                _ = try await client.completion(of: prompt)
                try await client.lock([.login])
            }
            let completed = client.completions.map(\.path)
            #expect(completed.count == Set(completed).count)
        }
    }

    @Test("#128 a daemon that ends during a prompt releases its name, and the client sees that")
    func daemon_endsDuringPrompt_leavesItsName() async throws {
        try await withLockedLogin([.hang]) { service, prompter in
            let watch = try await NameWatch(KeychainDaemon.busName, on: service.bus)
            let prompt = try await service.client.unlock([.login]).prompt
            try await service.client.show(prompt)
            _ = try await prompter.questions.first("the question")
            #expect(try await service.daemon.stop() == .success)
            try await watch.waitForVacancy()
        }
    }

    /// A service with a locked login, and a prompter that knows its password by default.
    private func withLockedLogin(
        _ responses: [PromptResponse] = [.answer("password")],
        _ options: KeychainDaemon.Options = KeychainDaemon.Options(),
        _ body: (RunningService, FakePrompter) async throws -> Void
    ) async throws {
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await service.client.lock([.login])
            try await body(service, prompter)
            await prompter.crash()
        }
    }
}

extension SecretServiceProxy {
    /// Every `Completed` to this client.
    nonisolated var completions: [BusSignal] {
        signals.all.filter { $0.member == "Completed" }
    }
}
