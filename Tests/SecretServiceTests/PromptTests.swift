import DBus
import Glibc
import TestSupport
import Testing

struct PromptTests {
    @Test func promptersNone_asksNobody_evenWhereOneIs() async throws {
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

    @Test("#115 nothing happens until Prompt is called")
    func prompt_notRun_doesNothing() async throws {
        try await withLockedLogin { service, prompter in
            let prompt = try await service.client.unlock([.login]).prompt
            try await service.client.roundTrip()
            #expect(prompter.questions.count == 0 && prompter.calls.count == 0)
            #expect(try await service.client.isCollectionLocked(.login))
            #expect(try await service.client.complete(prompt).paths == [ObjectPath.login.rawValue])
        }
    }

    @Test(
        "#116 any window is taken: none, a number, a handle of X11 or Wayland, nonsense",
        arguments: [
            "", "0", "123456", "x11:1a2b", "wayland:9f-Handle_x", "ключ 🔑", String(repeating: "x", count: 9000),
        ]
    )
    func prompt_anyWindow_isTaken(window: String) async throws {
        try await withLockedLogin { service, prompter in
            let outcome = try await service.client.complete(service.client.unlock([.login]).prompt, window: window)
            #expect(!outcome.isDismissed)
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("a dialog says which program asks, and what that rests on")
    func prompt_anyDialog_namesTheCaller() async throws {
        try await withLockedLogin { service, prompter in
            _ = try await service.client.complete(service.client.unlock([.login]).prompt)
            let story = try #require(try await prompter.questions.first("the question").text("description"))
            #expect(story.hasPrefix("Requested by "))
            #expect(story.contains("(process \(getpid())), identified by "))
        }
    }

    @Test("#117 #124 Prompt returns at once; Completed comes after its reply")
    func prompt_returnsAtOnce() async throws {
        try await withLockedLogin([.hang]) { service, prompter in
            let client = service.client
            let prompt = try await client.unlock([.login]).prompt
            try await client.show(prompt)
            _ = try await prompter.questions.first("the question")
            try await client.roundTrip()
            #expect(client.completions.isEmpty)
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).isDismissed)
        }
    }

    @Test("#118 #123 Dismiss before Prompt completes it, dismissed")
    func dismiss_beforePrompt_completes() async throws {
        try await withLockedLogin { service, prompter in
            let client = service.client
            let prompt = try await client.unlock([.login]).prompt
            try await client.dismiss(prompt)
            let outcome = try await client.completion(of: prompt)
            #expect(outcome.isDismissed && outcome.paths == [])
            #expect(prompter.questions.count == 0)
            #expect(try await client.isCollectionLocked(.login))
        }
    }

    @Test("#118 #123 Dismiss while a dialog is open closes it, and completes with a result of the right type")
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

    @Test("#119 #125 a completed prompt is not there any more")
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

    @Test("#120 the prompts of a client end with it, and so does their dialog")
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

    @Test("#121 another client's prompt does not exist")
    func prompt_ofAnother_isUnknown() async throws {
        try await withLockedLogin { service, prompter in
            let other = try await service.makeClient()
            let prompt = try await service.client.unlock([.login]).prompt
            await #expect(throws: BusError.unknownObject) { try await other.show(prompt) }
            await #expect(throws: BusError.unknownObject) { try await other.dismiss(prompt) }
            await #expect(throws: BusError.unknownObject) { try await other.introspect(prompt) }
            #expect(try await !other.introspect(prompt.parent).children.contains(prompt.name))
            #expect(prompter.questions.count == 0)
            #expect(try await service.client.complete(prompt).paths == [ObjectPath.login.rawValue])
        }
    }

    @Test("#122 Completed goes to the owner of the prompt alone")
    func completed_isForTheOwnerAlone() async throws {
        try await withLockedLogin { service, _ in
            let other = try await service.makeClient()
            try await other.roundTrip()
            let outcome = try await service.client.complete(service.client.unlock([.login]).prompt)
            #expect(!outcome.isDismissed)
            try await other.roundTrip()
            #expect(other.signals.count > 0)
            #expect(other.completions.isEmpty)
            #expect(service.client.completions.count == 1)
        }
    }

    @Test("#126 #43 a second Prompt is AlreadyExists")
    func prompt_twice_isAlreadyExists() async throws {
        try await withLockedLogin([.hang]) { service, prompter in
            let client = service.client
            let prompt = try await client.unlock([.login]).prompt
            try await client.show(prompt)
            await #expect(throws: BusError.alreadyExists) { try await client.show(prompt) }
            _ = try await prompter.questions.first("the question")
            await #expect(throws: BusError.alreadyExists) { try await client.show(prompt) }
            try await client.dismiss(prompt)
            _ = try await client.completion(of: prompt)
            #expect(client.completions.count == 1)
        }
    }

    @Test(
        "#127 whatever the prompter does, Completed comes, once",
        arguments: [
            .cancel, .withdraw, .crash, .refuse, .says("", exchange: ""), .says("yes", exchange: ""),
            .says("yes", exchange: "[sx-aes-1]\npublic=AA==\n"), .says("no", exchange: "nonsense"),
        ] as [PromptResponse]
    )
    func prompter_misbehaves_completedComes(response: PromptResponse) async throws {
        try await withLockedLogin([response, .cancel]) { service, _ in
            let client = service.client
            let outcome = try await client.complete(service.client.unlock([.login]).prompt)
            #expect(outcome.isDismissed && outcome.paths == [])
            #expect(try await client.isCollectionLocked(.login))
            try await client.roundTrip()
            #expect(client.completions.count == 1)
        }
    }

    @Test("#127 with no prompter at all, Completed comes at once, and the log says what to do")
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

    @Test("#120 #127 several prompts at once, of several clients, complete each on its own")
    func prompts_atOnce_completeEach() async throws {
        try await withLockedLogin { service, prompter in
            var clients: [SecretServiceProxy] = []
            for _ in 0..<6 {
                clients.append(try await service.makeClient())
            }
            let outcomes = clients.map { client in
                Task { try await client.complete(client.unlock([.login]).prompt) }
            }
            for outcome in outcomes {
                let outcome = try await outcome.value
                #expect(!outcome.isDismissed && outcome.paths == [ObjectPath.login.rawValue])
            }
            // Whoever waits for the same collection is not asked for its password once more.
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("#118 #120 #127 of two prompts for one collection, the second is shown when the first is dismissed")
    func prompts_firstDismissed_secondIsShown() async throws {
        try await withLockedLogin([.hang, .answer("password")]) { service, prompter in
            let (first, second) = (service.client, try await service.makeClient())
            let (firstPrompt, secondPrompt) = (
                try await first.unlock([.login]).prompt, try await second.unlock([.login]).prompt
            )
            try await first.show(firstPrompt)
            _ = try await prompter.questions.first("the first dialog")
            try await second.show(secondPrompt)
            try await second.roundTrip()
            #expect(prompter.questions.count == 1)
            try await first.dismiss(firstPrompt)
            #expect(try await first.completion(of: firstPrompt).isDismissed)
            #expect(try await second.completion(of: secondPrompt).paths == [ObjectPath.login.rawValue])
            #expect(prompter.questions.count == 2)
        }
    }

    @Test("#118 #127 a prompt that waits for another's dialog can be dismissed")
    func prompts_secondDismissed_completesAtOnce() async throws {
        try await withLockedLogin([.hang]) { service, prompter in
            let (first, second) = (service.client, try await service.makeClient())
            let (firstPrompt, secondPrompt) = (
                try await first.unlock([.login]).prompt, try await second.unlock([.login]).prompt
            )
            try await first.show(firstPrompt)
            _ = try await prompter.questions.first("the first dialog")
            try await second.show(secondPrompt)
            try await second.dismiss(secondPrompt)
            #expect(try await second.completion(of: secondPrompt).isDismissed)
            #expect(first.completions.isEmpty)
            try await first.dismiss(firstPrompt)
            #expect(try await first.completion(of: firstPrompt).isDismissed)
        }
    }

    @Test("#90 #127 a prompt whose collection was deleted completes, dismissed, and asks nobody")
    func prompt_collectionWasDeleted_completes() async throws {
        try await withLockedLogin { service, prompter in
            let client = service.client
            let late = try await client.unlock([.login]).prompt
            let deletion = try await client.deleteCollection(.login)
            #expect(try await !client.complete(deletion).isDismissed)
            #expect(try await client.complete(late).isDismissed)
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("#89 #118 a deletion that is dismissed after the answer does not happen")
    func dismiss_afterTheAnswer_keepsTheCollection() async throws {
        try await withLockedLogin { service, prompter in
            let client = service.client
            let prompt = try await client.deleteCollection(.login)
            try await client.show(prompt)
            _ = try await prompter.questions.first("the question")
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt) == PromptOutcome(isDismissed: true, result: .string("")))
            #expect(!service.client.signals.all.contains { $0.member == "CollectionDeleted" })
        }
    }

    @Test("#125 a Dismiss that crosses the answer leaves one Completed")
    func dismiss_crossingTheAnswer_completesOnce() async throws {
        try await withLockedLogin { service, prompter in
            let client = service.client
            for round in 0..<8 {
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

    @Test("#128 a daemon that ends in the middle of a prompt leaves its name, and the client learns of it")
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

    @Test("#115 an item is made, a collection unlocked, without a prompt where none is needed")
    func noPromptNeeded_pathIsRoot() async throws {
        let (client, session) = try await SharedService.client()
        let reply = try await client.createItem(properties: [:], secret: WireSecret(session: session, value: []))
        #expect(reply.prompt == .root)
        #expect(try await client.unlock([reply.item]).prompt == .root)
        #expect(try await client.deleteItem(reply.item) == .root)
    }

    /// A service whose login is locked, and a prompter that knows its password unless told otherwise.
    private func withLockedLogin(
        _ responses: [PromptResponse] = [.answer("password")],
        _ body: (RunningService, FakePrompter) async throws -> Void
    ) async throws {
        try await RunningService.withService { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await service.client.lock([.login])
            try await body(service, prompter)
            await prompter.crash()
        }
    }
}

extension SecretServiceProxy {
    /// Every `Completed` that has reached this client.
    nonisolated var completions: [BusSignal] {
        signals.all.filter { $0.member == "Completed" }
    }
}
