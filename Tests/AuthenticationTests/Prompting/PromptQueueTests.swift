import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Logging
import Testing

/// Several conversations, of one caller or more.
@Suite(.lockedPool, .onLoop)
struct PromptQueueTests {
    private let prompter = ScriptedPrompter()

    /// Asks in a task, which ends the conversation after the answer.
    @BusActor
    private func ask(_ message: String, _ conversation: Conversation) -> Task<Answer, any Error> {
        let request = PromptRequest(question: .confirmation, message: "\(message)")
        return Task.immediate { @BusActor in
            defer { conversation.end() }
            return Answer(try await conversation.ask(request))
        }
    }

    @BusActor
    private func expectQuestion(_ message: String) async throws {
        _ = try await prompter.events.first("the question") { $0 == "ask \(message) " }
    }

    @BusActor
    private var questions: [String] {
        prompter.events.all.filter { $0.hasPrefix("ask ") }
    }

    @Test
    @BusActor
    func ask_severalOfOneCaller_areShownOneByOneInOrder() async throws {
        let queue = PromptQueue(prompter, logger: .silent)
        let answers = (0..<3).map { ask("\($0)", queue.makeConversation(for: TestRequester(":1.1"))) }
        for (number, answer) in answers.enumerated() {
            try await expectQuestion("\(number)")
            #expect(questions.count == number + 1)
            prompter.dialogs[number].answer(.confirmed)
            #expect(try await answer.value == .confirmed)
        }
    }

    @Test
    @BusActor
    func ask_thousandsOfOneCaller_doNotStarveAnother() async throws {
        let queue = PromptQueue(prompter, limit: 20_000, logger: .silent)
        let greedy = (0..<10_000).map { number in queue.makeConversation(for: TestRequester(":1.1")) }
        let answers = greedy.enumerated().map { ask("greedy \($0)", $1) }
        let modest = ask("modest", queue.makeConversation(for: TestRequester(":1.2")))
        // The shown one, one more of the greedy caller, then the other caller.
        for (number, message) in ["greedy 0", "greedy 1", "modest"].enumerated() {
            try await expectQuestion(message)
            prompter.dialogs[number].answer(.confirmed)
        }
        #expect(try await modest.value == .confirmed)
        for conversation in greedy { conversation.end() }
        #expect(try await answers[0].value == .confirmed)
        #expect(try await answers[9999].value == .withdrawn)
    }

    @Test
    @BusActor
    func ask_noRoom_isTooMany() async throws {
        let queue = PromptQueue(prompter, limit: 1, logger: .silent)
        let shown = ask("shown", queue.makeConversation(for: TestRequester(":1.1")))
        let waiting = ask("waiting", queue.makeConversation(for: TestRequester(":1.1")))
        let refused = ask("refused", queue.makeConversation(for: TestRequester(":1.1")))
        await #expect(throws: PromptError(.tooMany, reason: "")) { _ = try await refused.value }
        try await expectQuestion("shown")
        prompter.dialogs[0].answer(.confirmed)
        try await expectQuestion("waiting")
        prompter.dialogs[1].answer(.confirmed)
        #expect([try await shown.value, try await waiting.value] == [.confirmed, .confirmed])
    }

    @Test
    @BusActor
    func ask_roomTakenByOne_othersGetIt() async throws {
        let queue = PromptQueue(prompter, limit: 2, logger: .silent)
        let greedy = (0..<3).map { ask("greedy \($0)", queue.makeConversation(for: TestRequester(":1.1"))) }
        let modest = ask("modest", queue.makeConversation(for: TestRequester(":1.2")))
        await #expect(throws: PromptError(.tooMany, reason: "")) { _ = try await greedy[2].value }
        try await expectQuestion("greedy 0")
        prompter.dialogs[0].answer(.confirmed)
        try await expectQuestion("greedy 1")
        prompter.dialogs[1].answer(.confirmed)
        try await expectQuestion("modest")
        prompter.dialogs[2].answer(.confirmed)
        #expect(try await modest.value == .confirmed)
    }

    @Test
    @BusActor
    func end_whileWaiting_leavesTheQueue() async throws {
        let queue = PromptQueue(prompter, logger: .silent)
        let first = ask("first", queue.makeConversation(for: TestRequester(":1.1")))
        let conversation = queue.makeConversation(for: TestRequester(":1.1"))
        let second = ask("second", conversation)
        let third = ask("third", queue.makeConversation(for: TestRequester(":1.1")))
        conversation.end()
        #expect(try await second.value == .withdrawn)
        try await expectQuestion("first")
        prompter.dialogs[0].answer(.confirmed)
        _ = try await first.value
        try await expectQuestion("third")
        prompter.dialogs[1].answer(.confirmed)
        #expect(try await third.value == .confirmed)
    }

    @Test
    @BusActor
    func withdraw_whileWaiting_canAskAgain() async throws {
        let queue = PromptQueue(prompter, logger: .silent)
        let first = ask("first", queue.makeConversation(for: TestRequester(":1.1")))
        let conversation = queue.makeConversation(for: TestRequester(":1.1"))
        let second = Task.immediate { @BusActor in Answer(try await conversation.ask(.touch)) }
        conversation.withdraw()
        #expect(try await second.value == .withdrawn)
        try await expectQuestion("first")
        prompter.dialogs[0].answer(.confirmed)
        _ = try await first.value
        let again = ask("again", conversation)
        try await expectQuestion("again")
        prompter.dialogs[1].answer(.confirmed)
        #expect(try await again.value == .confirmed)
    }

    @Test
    @BusActor
    func begin_beforeAsking_waitsForTheTurn() async throws {
        let queue = PromptQueue(prompter, logger: .silent)
        let first = queue.makeConversation(for: TestRequester(":1.1"))
        let second = queue.makeConversation(for: TestRequester(":1.2"))
        #expect(try await first.begin())
        #expect(try await first.begin())
        let begun = Recorder<Bool>()
        let waiting = Task.immediate { @BusActor in begun.record(try await second.begin()) }
        await #expect(throws: PromptError(.failed, reason: "")) { _ = try await second.begin() }
        #expect(begun.all.isEmpty)
        first.end()
        #expect(try await begun.first("the turn"))
        try await waiting.value
    }

    @Test
    @BusActor
    func forget_withoutEnding_givesTheTurnBack() async throws {
        let queue = PromptQueue(prompter, logger: .silent)
        do {
            let forgotten = queue.makeConversation(for: TestRequester(":1.1"))
            #expect(try await forgotten.begin())
        }
        #expect(try await queue.makeConversation(for: TestRequester(":1.2")).begin())
    }

    @Test
    @BusActor
    func fail_firstOfTwo_theNextIsAsked() async throws {
        let queue = PromptQueue(prompter, logger: .silent)
        let first = ask("first", queue.makeConversation(for: TestRequester(":1.1")))
        let second = ask("second", queue.makeConversation(for: TestRequester(":1.1")))
        try await expectQuestion("first")
        prompter.dialogs[0].fail(PromptError(.crashed, reason: "gone"))
        await #expect(throws: PromptError(.crashed, reason: "")) { _ = try await first.value }
        try await expectQuestion("second")
        prompter.dialogs[1].answer(.confirmed)
        #expect(try await second.value == .confirmed)
    }

    @Test
    @BusActor
    func expectedTrust_asThePrompters() async throws {
        let queue = PromptQueue(prompter, logger: .silent)
        #expect(await queue.expectedTrust(for: TestRequester(":1.1")) == .trusted)
        prompter.failure = PromptError(.unavailable, reason: "")
        #expect(await queue.expectedTrust(for: TestRequester(":1.1")) == nil)
        #expect(prompter.events.all.isEmpty)
    }
}
