import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// KDE's prompter, as a fake on a private bus.
@Suite(.lockedPool, .onLoop)
struct KDEPrompterTests {
    @Test(arguments: ["hunter2", "", "pässwörd\n", String(repeating: "p", count: 4096)])
    @BusActor
    func ask_password_isReadBackAsItIs(password: String) async throws {
        try await run([.type(Array(password.utf8))]) { (dialog, fake) async throws in
            #expect(try await dialog.answer(.unlock) == .password(password))
        }
    }

    @Test(
        "the mode of what the prompter has sent, which it shares and can change, does not matter",
        arguments: [FakeKDEPrompter.Response.type(Array("hunter2".utf8)), .typeIntoPipe(Array("hunter2".utf8))]
    )
    @BusActor
    func ask_password_isReadWithoutTheSharedMode(response: FakeKDEPrompter.Response) async throws {
        try await run([response]) { (dialog, fake) async throws in
            #expect(try await dialog.answer(.unlock) == .password("hunter2"))
            let sent = try #require(fake.sentEnds.first)
            #expect(fcntl(sent.rawValue, F_GETFL) & O_NONBLOCK == 0)
        }
    }

    @Test
    @BusActor
    func ask_request_tellsWindowAndName() async throws {
        try await run([.type([])]) { (dialog, fake) async throws in
            let request = PromptRequest(question: .password, message: "m", subject: "<b>login", windowID: "x11:1")
            _ = try await dialog.answer(request)
            #expect(fake.events.all.first == "UnlockCollectionPrompt x11:1 ‹b>login")
        }
    }

    @Test
    @BusActor
    func ask_wrongThenRight_isAskedAgainInTheSameDialog() async throws {
        try await run([.type(Array("wrong".utf8)), .type(Array("right".utf8))]) { (dialog, fake) async throws in
            #expect(try await dialog.answer(.unlock) == .password("wrong"))
            var request = PromptRequest.unlock
            request.warn("Not right.")
            #expect(try await dialog.answer(request) == .password("right"))
            #expect(fake.events.all.contains("action 1"))
            #expect(fake.events.all.contains("Retry Not right."))
        }
    }

    @Test
    @BusActor
    func ask_newPassword_isEnteredTwice() async throws {
        let entered: [FakeKDEPrompter.Response] = ["typo", "new", "new"].map { .type(Array($0.utf8)) }
        try await run(entered) { (dialog, fake) async throws in
            #expect(try await dialog.answer(.create) == .password("new"))
            let questions = fake.events.all.filter { !$0.hasPrefix("action") }
            #expect(questions.first?.hasPrefix("CreateCollectionPrompt") == true)
            #expect(
                questions.dropFirst() == [
                    "Retry Enter the same password again.", "Retry The two passwords are not the same.",
                    "Retry Enter the same password again.",
                ]
            )
        }
    }

    @Test(arguments: [PromptRequest.unlock, .create])
    @BusActor
    func ask_rejected_isCancelledAndStaysSo(request: PromptRequest) async throws {
        try await run([.reject]) { (dialog, fake) async throws in
            #expect(try await dialog.answer(request) == .cancelled)
            #expect(try await dialog.answer(request) == .cancelled)
            _ = try await fake.events.first("the answer") { $0 == "action 0" }
        }
    }

    @Test(arguments: [PromptRequest.confirm, .touch])
    @BusActor
    func ask_noPassword_isFailed(request: PromptRequest) async throws {
        try await run([.hang]) { (dialog, _) async throws in
            #expect(!dialog.canAsk(request.question))
            await #expect(throws: PromptError(.failed, reason: "")) { _ = try await dialog.answer(request) }
        }
    }

    @Test
    @BusActor
    func open_noPassword_isUnavailable() async throws {
        try await withPrompter([.hang]) { (prompter, _) async throws in
            for question in [PromptRequest.Question.confirmation, .waiting] {
                await #expect(throws: PromptError(.unavailable, reason: "")) {
                    _ = try await prompter.open(for: TestRequester(""), asking: question)
                }
            }
        }
    }

    @Test
    @BusActor
    func revise_whileAsking_showsTheWarning() async throws {
        try await run([.hang]) { (dialog, fake) async throws in
            #expect(!dialog.revise(.unlock))
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            _ = try await fake.events.first("the question")
            var request = PromptRequest.unlock
            request.warn("The swipe was too short.")
            #expect(dialog.revise(request))
            _ = try await fake.events.first("the warning") { $0 == "Retry The swipe was too short." }
            dialog.close()
            #expect(try await answer.value == .withdrawn)
        }
    }

    @Test
    @BusActor
    func dismissed_whileAsking_isInterrupted() async throws {
        try await run([.hang]) { (dialog, fake) async throws in
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            _ = try await fake.events.first("the question")
            fake.say("Dismissed")
            await #expect(throws: PromptError(.interrupted, reason: "")) { _ = try await answer.value }
        }
    }

    @Test
    @BusActor
    func expectedTrust_prompterAndDesktop_areBothNeeded() async throws {
        try await withPrompter([.hang]) { (prompter, fake) async throws in
            #expect(await prompter.expectedTrust(for: TestRequester("")) == .trusted)
        }
        try await withPrompter([.hang], desktop: "GNOME") { (prompter, _) async throws in
            #expect(await prompter.expectedTrust(for: TestRequester("")) == nil)
        }
    }

    @Test(
        arguments: [
            (FakeKDEPrompter.Response.crash, PromptError.Code.crashed), (.refuse, .failed), (.hang, .timedOut),
            (.type([0xFF, 0xFE]), .failed), (.type(Array(repeating: 0x70, count: 4097)), .failed),
            (.giveFile("/dev/null"), .failed), (.giveFile("/etc/passwd"), .failed),
            (.typeWithoutEnd([0x70]), .timedOut),
        ]
    )
    @BusActor
    func ask_badAnswer_isError(response: FakeKDEPrompter.Response, code: PromptError.Code) async throws {
        try await run([response], timeout: code == .timedOut ? .milliseconds(200) : .seconds(300)) {
            (dialog, _) async throws in
            await #expect(throws: PromptError(code, reason: "")) { _ = try await dialog.answer(.unlock) }
            await #expect(throws: PromptError(code, reason: "")) { _ = try await dialog.answer(.unlock) }
        }
    }

    @Test(arguments: [FakeKDEPrompter.Response.hang, .typeWithoutEnd([0x70])])
    @BusActor
    func close_whileAsking_isWithdrawnAndTheDialogToo(response: FakeKDEPrompter.Response) async throws {
        try await run([response]) { (dialog, fake) async throws in
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            _ = try await fake.events.first("the question")
            dialog.close()
            #expect(try await answer.value == .withdrawn)
            _ = try await fake.events.first("the end of the dialog") { $0 == "Dismiss" }
        }
    }

    @Test
    @BusActor
    func accepted_nobodyAsks_isNotTaken() async throws {
        try await run([.type([0x61]), .type([0x62])]) { (dialog, fake) async throws in
            #expect(try await dialog.answer(.unlock) == .password("a"))
            fake.say("Accepted", FileDescriptor(owning: open("/dev/null", O_RDONLY)))
            _ = try await fake.events.first("the answer", after: 2) { $0 == "action 1" }
            #expect(try await dialog.answer(.unlock) == .password("b"))
        }
    }

    @Test(arguments: ["GNOME", "", "notKDE"])
    @BusActor
    func open_otherDesktop_isUnavailable(desktop: String) async throws {
        await #expect(throws: PromptError(.unavailable, reason: "")) {
            try await run([.hang], desktop: desktop) { (_, _) async throws in }
        }
    }

    @Test
    @BusActor
    func open_noPrompter_isUnavailable() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        defer { connection.close() }
        let environment = SessionEnvironment(
            own: ["XDG_CURRENT_DESKTOP": "KDE", "DISPLAY": ":1"],
            connection: connection,
            timeout: Patience.limit
        )
        let prompter = KDEPrompter(
            connection: connection,
            environment: environment,
            logger: .silent,
            callTimeout: Patience.limit
        )
        // Twice: a failure must not block the next dialog.
        for _ in 0..<2 {
            await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await prompter.open() }
        }
    }

    @BusActor
    private func run(
        _ responses: [FakeKDEPrompter.Response],
        desktop: String = "KDE",
        timeout: Duration = .seconds(300),
        _ body: @BusActor (any PromptDialog, FakeKDEPrompter) async throws -> Void
    ) async throws {
        try await withPrompter(responses, desktop: desktop, timeout: timeout) { (prompter, fake) async throws in
            let dialog = try await prompter.open()
            defer { dialog.close() }
            try await body(dialog, fake)
        }
    }

    @BusActor
    private func withPrompter(
        _ responses: [FakeKDEPrompter.Response],
        desktop: String = "KDE",
        timeout: Duration = .seconds(300),
        _ body: @BusActor (KDEPrompter, FakeKDEPrompter) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus()
        let fake = try FakeKDEPrompter(on: bus, responses)
        let connection = try bus.connect()
        defer {
            fake.crash()
            connection.close()
        }
        let own = ["XDG_CURRENT_DESKTOP": desktop, "DISPLAY": ":1"]
        let prompter = KDEPrompter(
            connection: connection,
            environment: SessionEnvironment(own: own, connection: connection, timeout: Patience.limit),
            logger: .silent,
            timeout: timeout,
            callTimeout: Patience.limit
        )
        try await body(prompter, fake)
    }
}
