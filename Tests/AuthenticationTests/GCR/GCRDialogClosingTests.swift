import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Dialogs closed by either side at any step.
@Suite(.lockedPool)
struct GCRDialogClosingTests {
    @BusActor
    private func expectStopped(_ fixture: PrompterFixture) async throws {
        _ = try await fixture.fake.calls.first("the end of the dialog") { $0 == "StopPrompting" }
    }

    @Test(arguments: [PromptGreeting.ready, .silent])
    func close_beforeAsking_isWithdrawn(greeting: PromptGreeting) async throws {
        try await PrompterFixture.run(greeting: greeting, [.answer("late")]) { fixture in
            let dialog = try await fixture.prompter.open()
            dialog.close()
            #expect(try await dialog.answer(.unlock) == .withdrawn)
            try await expectStopped(fixture)
            #expect(fixture.fake.questions.count == 0)
        }
    }

    @Test
    func close_whileQueued_endsTheQuestion() async throws {
        try await PrompterFixture.run(greeting: .silent, [.answer("late")]) { fixture in
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            dialog.close()
            #expect(try await answer.value == .withdrawn)
            try await expectStopped(fixture)
        }
    }

    @Test
    func close_whileAsking_endsTheQuestion() async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            _ = try await fixture.fake.questions.first("the question")
            dialog.close()
            #expect(try await answer.value == .withdrawn)
            try await expectStopped(fixture)
        }
    }

    @Test
    func close_betweenQuestions_isWithdrawn() async throws {
        try await PrompterFixture.run([.answer("first"), .answer("late")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .password("first"))
            dialog.close()
            #expect(try await dialog.answer(.unlock) == .withdrawn)
            #expect(fixture.fake.questions.count == 1)
        }
    }

    @Test
    func close_twice_stopsOnce() async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            let dialog = try await fixture.prompter.open()
            dialog.close()
            dialog.close()
            let next = try await fixture.prompter.open()
            _ = try await fixture.fake.calls.first("the next dialog", after: 1) { $0 == "BeginPrompting" }
            #expect(fixture.fake.calls.all == ["BeginPrompting", "StopPrompting", "BeginPrompting"])
            next.close()
        }
    }

    @Test
    func release_withoutClosing_stops() async throws {
        try await PrompterFixture.run([.answer("first")]) { fixture in
            do {
                let dialog = try await fixture.prompter.open()
                _ = try await dialog.answer(.unlock)
            }
            try await expectStopped(fixture)
        }
    }

    @Test
    func withdraw_whileAsking_isInterrupted() async throws {
        try await PrompterFixture.run([.withdraw]) { fixture in
            let dialog = try await fixture.prompter.open()
            await #expect(throws: PromptError(.interrupted, reason: "")) { _ = try await dialog.answer(.unlock) }
            await #expect(throws: PromptError(.interrupted, reason: "")) { _ = try await dialog.answer(.unlock) }
        }
    }

    @Test
    func ask_whileAsking_fails() async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            await #expect(throws: PromptError(.failed, reason: "")) { _ = try await dialog.answer(.confirm) }
            dialog.close()
            #expect(try await answer.value == .withdrawn)
        }
    }

    @Test
    func answer_afterClosing_isIgnored() async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            let question = try await fixture.fake.questions.first("the question")
            dialog.close()
            fixture.fake.say("yes", exchange: "[sx-aes-1]\npublic=Ag==\n", to: question)
            let ping = Message.call(to: fixture.fake.uniqueName, .root, StandardInterface.peer, "Ping")
            _ = try await fixture.connection.call(ping)
            #expect(try await answer.value == .withdrawn)
            #expect(try await dialog.answer(.unlock) == .withdrawn)
        }
    }

    @Test
    func answer_withoutQuestion_isIgnored() async throws {
        try await PrompterFixture.run([.answer("first"), .answer("second")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .password("first"))
            let question = try await fixture.fake.questions.first("the question")
            fixture.fake.say("yes", exchange: "[sx-aes-1]\npublic=Ag==\n", to: question)
            // The reply arrives after everything the prompter sent before.
            let ping = Message.call(to: fixture.fake.uniqueName, .root, StandardInterface.peer, "Ping")
            _ = try await fixture.connection.call(ping)
            #expect(try await dialog.answer(.unlock) == .password("second"))
        }
    }
}
