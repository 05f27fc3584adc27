import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport
import Logging
import Testing

/// One conversation with a scripted prompter.
@Suite(.lockedPool, .onLoop)
struct ConversationTests {
    private let prompter = ScriptedPrompter()

    @BusActor
    private func makeConversation(logger: Logger = .silent) -> Conversation {
        PromptQueue(prompter, logger: logger).makeConversation(for: TestRequester(":1.1"), windowID: "x11:1")
    }

    // MARK: Answers

    @Test
    @BusActor
    func ask_answers_arePassedOn() async throws {
        let conversation = makeConversation()
        let password = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].answer(.password(try SecureBytes(count: 2, in: .locked)))
        #expect(try await password.value == .password("\u{0}\u{0}"))
        let confirmation = try await prompter.ask(.confirm, in: conversation)
        prompter.dialogs[0].answer(.confirmed)
        #expect(try await confirmation.value == .confirmed)
        let fallback = try await prompter.ask(.touchOrElse, in: conversation)
        prompter.dialogs[0].answer(.fallback)
        #expect(try await fallback.value == .fallback)
        #expect(prompter.dialogs.count == 1)
        #expect(conversation.windowID == "x11:1")
        #expect(prompter.events.all.first == "open :1.1")
    }

    @Test
    @BusActor
    func ask_cancelled_staysSo() async throws {
        let conversation = makeConversation()
        let answer = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].answer(.cancelled)
        #expect(try await answer.value == .cancelled)
        #expect(conversation.isEnded)
        #expect(Answer(try await conversation.ask(.unlock)) == .cancelled)
        #expect(prompter.events.all.last == "close")
    }

    @Test(arguments: [PromptError.Code.crashed, .timedOut, .interrupted, .failed])
    @BusActor
    func ask_fails_staysSoAndIsLoggedOnce(code: PromptError.Code) async throws {
        let lines = Recorder<LogRecorder.Line>()
        let conversation = makeConversation(logger: Logger(recordingTo: lines))
        let answer = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].fail(PromptError(code, reason: "because"))
        for _ in 0..<2 {
            await #expect(throws: PromptError(code, reason: "")) { _ = try await answer.value }
            await #expect(throws: PromptError(code, reason: "")) { _ = try await conversation.ask(.unlock) }
        }
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.text.contains("because") == true)
    }

    @Test
    @BusActor
    func ask_noPrompter_failsAtOnce() async throws {
        prompter.failure = PromptError(.unavailable, reason: "nobody")
        let conversation = makeConversation()
        await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await conversation.ask(.unlock) }
        #expect(conversation.isEnded)
    }

    @Test
    @BusActor
    func ask_whileAsking_fails() async throws {
        let conversation = makeConversation()
        let first = try await prompter.ask(.unlock, in: conversation)
        await #expect(throws: PromptError(.failed, reason: "")) { _ = try await conversation.ask(.confirm) }
        prompter.dialogs[0].answer(.confirmed)
        #expect(try await first.value == .confirmed)
    }

    @Test
    @BusActor
    func ask_dialogCannot_opensAnother() async throws {
        prompter.questions = [.password]
        let conversation = makeConversation()
        let first = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].answer(.confirmed)
        _ = try await first.value
        prompter.questions = [.confirmation]
        let second = try await prompter.ask(.confirm, in: conversation)
        prompter.dialogs[1].answer(.confirmed)
        #expect(try await second.value == .confirmed)
        #expect(Array(prompter.events.all.dropFirst(2).prefix(2)) == ["close", "open :1.1"])
    }

    @Test
    @BusActor
    func ask_shownAgain_callsBackAgain() async throws {
        let conversation = makeConversation()
        let shown = Recorder<Void>()
        let answer = Task.immediate { @BusActor in
            Answer(try await conversation.ask(.touch) { shown.record(()) })
        }
        _ = try await shown.first("the question")
        conversation.revise(.unlock)
        _ = try await prompter.events.first("the other question") { $0.hasPrefix("ask Unlock") }
        prompter.dialogs[1].answer(.cancelled)
        #expect(try await answer.value == .cancelled)
        #expect(shown.count == 2)
    }

    // MARK: Withdrawing

    @Test
    @BusActor
    func withdraw_whileAsking_takesTheDialogAwayAndGoesOn() async throws {
        let conversation = makeConversation()
        let first = try await prompter.ask(.touch, in: conversation)
        conversation.withdraw()
        #expect(try await first.value == .withdrawn)
        #expect(!conversation.isEnded)
        let second = try await prompter.ask(.confirm, in: conversation)
        prompter.dialogs[1].answer(.confirmed)
        #expect(try await second.value == .confirmed)
    }

    @Test
    @BusActor
    func withdraw_whileOpening_closesTheLateDialog() async throws {
        prompter.isSlow = true
        let conversation = makeConversation()
        let first = Task.immediate { @BusActor in Answer(try await conversation.ask(.touch)) }
        _ = try await prompter.events.first("the opening")
        conversation.withdraw()
        #expect(try await first.value == .withdrawn)
        // Asks again before the first dialog is open.
        let second = Task.immediate { @BusActor in Answer(try await conversation.ask(.confirm)) }
        _ = try await prompter.events.first("the second opening", after: 1)
        prompter.letOpen()
        _ = try await prompter.events.first("the question") { $0.hasPrefix("ask ") }
        _ = try await prompter.events.first("the end of the first") { $0 == "close" }
        for dialog in prompter.dialogs { dialog.answer(.confirmed) }
        #expect(try await second.value == .confirmed)
    }

    @Test
    @BusActor
    func withdraw_nothingAsked_changesNothing() async throws {
        let conversation = makeConversation()
        conversation.withdraw()
        #expect(try await conversation.begin())
        conversation.withdraw()
        let answer = try await prompter.ask(.confirm, in: conversation)
        prompter.dialogs[0].answer(.confirmed)
        #expect(try await answer.value == .confirmed)
    }

    @Test
    @BusActor
    func end_whileAsking_isWithdrawnForGood() async throws {
        let conversation = makeConversation()
        let answer = try await prompter.ask(.unlock, in: conversation)
        conversation.end()
        #expect(try await answer.value == .withdrawn)
        #expect(Answer(try await conversation.ask(.unlock)) == .withdrawn)
        #expect(try await conversation.begin() == false)
    }

    @Test
    @BusActor
    func end_atTheSameTimeAsTheAnswer_isWithdrawn() async throws {
        let conversation = makeConversation()
        let answer = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].answer(.confirmed)
        conversation.end()
        #expect(try await answer.value == .withdrawn)
    }

    // MARK: Revising

    @Test
    @BusActor
    func revise_prompterCan_changesTheDialog() async throws {
        prompter.revises = true
        let conversation = makeConversation()
        let answer = try await prompter.ask(.unlock, in: conversation)
        var request = PromptRequest.unlock
        request.warn("Too short.")
        conversation.revise(request)
        conversation.revise(request)
        prompter.dialogs[0].answer(.confirmed)
        #expect(try await answer.value == .confirmed)
        #expect(prompter.events.all.filter { $0.hasPrefix("revise") } == ["revise Too short."])
        #expect(prompter.dialogs.count == 1)
    }

    @Test
    @BusActor
    func revise_prompterCannot_asksAgainInAnotherDialog() async throws {
        let conversation = makeConversation()
        let answer = try await prompter.ask(.touch, in: conversation)
        for (number, warning) in ["Too short.", "Not recognised."].enumerated() {
            let count = prompter.events.count
            var request = PromptRequest.touch
            request.warn("\(warning)")
            conversation.revise(request)
            let event = "ask Touch the reader \(warning)"
            _ = try await prompter.events.first("the question again", after: count) { $0 == event }
            #expect(prompter.dialogs.count == number + 2)
        }
        prompter.dialogs[2].answer(.cancelled)
        #expect(try await answer.value == .cancelled)
    }

    @Test
    @BusActor
    func revise_toAnotherQuestion_asksThat() async throws {
        prompter.revises = true
        let conversation = makeConversation()
        let answer = try await prompter.ask(.touch, in: conversation)
        conversation.revise(.unlock)
        _ = try await prompter.events.first("the other question") { $0.hasPrefix("ask Unlock") }
        prompter.dialogs[1].answer(.confirmed)
        #expect(try await answer.value == .confirmed)
    }

    @Test
    @BusActor
    func revise_whileOpening_isAskedInTheNewWords() async throws {
        prompter.isSlow = true
        let conversation = makeConversation()
        let answer = Task.immediate { @BusActor in Answer(try await conversation.ask(.touch)) }
        _ = try await prompter.events.first("the opening")
        var request = PromptRequest.touch
        request.warn("new")
        conversation.revise(request)
        prompter.letOpen()
        let question = try await prompter.events.first("the question") { $0.hasPrefix("ask ") }
        #expect(question == "ask Touch the reader new")
        prompter.dialogs[0].answer(.cancelled)
        #expect(try await answer.value == .cancelled)
    }

    @Test
    @BusActor
    func revise_nothingAsked_changesNothing() async throws {
        let conversation = makeConversation()
        conversation.revise(.unlock)
        #expect(prompter.events.all.isEmpty)
    }

    // MARK: The turn

    @Test(arguments: [Cancellation.byProgram, .bySystem(reason: "the session was locked")])
    @BusActor
    func end_tellsWhoFollowsIt_onceAndWhy(cancellation: Cancellation) async throws {
        let conversation = makeConversation()
        let told = Recorder<Cancellation>()
        conversation.whenCancelled { told.record($0) }
        conversation.end(cancellation)
        conversation.end()
        #expect(told.all == [cancellation] && conversation.cancellation == cancellation)
        conversation.whenCancelled { told.record($0) }
        #expect(told.all == [cancellation, cancellation])
    }

    @Test
    @BusActor
    func cancelledByThePerson_isNoCancellationFromOutside() async throws {
        let conversation = makeConversation()
        conversation.whenCancelled { _ in Issue.record("nobody has cancelled from outside") }
        let answer = try await prompter.ask(.unlock, in: conversation)
        prompter.dialogs[0].answer(.cancelled)
        #expect(try await answer.value == .cancelled)
        #expect(conversation.cancellation == nil)
    }
}
