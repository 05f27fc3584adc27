import KeychaindAuthentication
import KeychaindDBus
import KeychaindLanguage
import KeychaindTestSupport
import Testing

/// Answers of a person through the GCR prompter.
@Suite(.lockedPool)
struct GCRPrompterTests {
    @Test(arguments: ["hunter2", "", "pässwörd 🔑", "two\nlines", String(repeating: "long ", count: 4000)])
    func ask_password_isReadBack(password: String) async throws {
        try await PrompterFixture.run([.answer(password)]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .password(password))
            dialog.close()
        }
    }

    @Test
    func ask_request_reachesThePrompter() async throws {
        try await PrompterFixture.run([.answer("")]) { fixture in
            let dialog = try await fixture.prompter.open()
            let request = PromptRequest(
                question: .password,
                title: "Unlock",
                message: "Authentication required",
                description: "“app” wants the collection “Login”.\nIt is locked.",
                warning: "That was wrong.",
                continueLabel: "Unlock",
                cancelLabel: "Not now",
                windowID: "x11:2a"
            )
            _ = try await dialog.answer(request)
            let question = try await fixture.fake.questions.first("the question")
            #expect(question.type == "password")
            #expect(question.text("title") == request.title)
            #expect(question.text("message") == request.message)
            #expect(question.text("description") == request.description)
            #expect(question.text("warning") == request.warning)
            #expect(question.text("continue-label") == request.continueLabel)
            #expect(question.text("cancel-label") == request.cancelLabel)
            #expect(question.text("caller-window") == request.windowID)
            #expect(question.text("choice-label") == "")
            #expect(question.properties["password-new"] == .boolean(false))
        }
    }

    @Test
    func choice_isTakenUntilCleared_andBelongsToItsLabel() async throws {
        let responses: [PromptResponse] = [
            .answerWithCheckbox("", isTicked: true), .answer(""), .answer(""), .answerWithCheckbox("", isTicked: true),
            .answerWithCheckbox("", isTicked: false), .answerWithCheckbox("", isTicked: true),
        ]
        try await PrompterFixture.run(responses) { fixture in
            let dialog = try await fixture.prompter.open()
            @BusActor func chosen(_ label: Text) async throws -> Bool {
                let request = PromptRequest(
                    question: .password,
                    message: "Password",
                    description: "Why",
                    callerDetails: "Who",
                    choice: label.isEmpty ? nil : PromptRequest.Choice(label: label, explanation: "What it does")
                )
                _ = try await dialog.answer(request)
                let question = try #require(fixture.fake.questions.all.last)
                #expect(question.text("choice-label") == request.choice?.label ?? "")
                let choice = label.isEmpty ? "" : "What it does\n\n"
                #expect(question.text("description") == "Why\n\n\(choice)Details: Who")
                return dialog.hasChosen
            }
            // A prompter tells a change only, so that the tick stays for the same question.
            #expect(try await chosen("Always"))
            #expect(try await chosen("Always"))
            #expect(try await chosen("Never") == false)
            #expect(try await chosen("Never"))
            #expect(try await chosen("Never") == false)
            #expect(try await chosen(.empty) == false)
            let ticks = fixture.fake.questions.all.map { $0.properties["choice-chosen"] }
            #expect(ticks == [false, true, false, false, true, false].map { .boolean($0) })
        }
    }

    @Test
    func ask_labelsEmpty_leavesThemToThePrompter() async throws {
        try await PrompterFixture.run([.answer("")]) { fixture in
            let dialog = try await fixture.prompter.open()
            _ = try await dialog.answer(.unlock)
            let question = try await fixture.fake.questions.first("the question")
            #expect(question.properties["continue-label"] == nil)
            #expect(question.properties["cancel-label"] == nil)
            #expect(question.text("warning") == "")
        }
    }

    @Test
    func ask_newPassword_hasItRepeated() async throws {
        try await PrompterFixture.run([.answer("new")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.create) == .password("new"))
            let question = try await fixture.fake.questions.first("the question")
            #expect(question.type == "password")
            #expect(question.properties["password-new"] == .boolean(true))
            #expect(question.text("description")?.contains("Type it twice, once in each of the two fields.") == true)
        }
    }

    @Test
    func ask_confirmation_isConfirmed() async throws {
        try await PrompterFixture.run([.answer("")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.confirm) == .confirmed)
            #expect(try await fixture.fake.questions.first("the question").type == "confirm")
        }
    }

    @Test(arguments: [PromptRequest.unlock, .create, .confirm])
    func ask_cancelled_isCancelledForGood(request: PromptRequest) async throws {
        try await PrompterFixture.run([.cancel, .answer("late")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(request) == .cancelled)
            #expect(try await dialog.answer(request) == .cancelled)
            #expect(fixture.fake.questions.count == 1)
            _ = try await fixture.fake.calls.first("the end of the dialog") { $0 == "StopPrompting" }
        }
    }

    @Test
    func ask_wrongPasswordThenRight_staysInOneDialog() async throws {
        try await PrompterFixture.run([.answer("wrong"), .answer("right")]) { fixture in
            let dialog = try await fixture.prompter.open()
            var request = PromptRequest.unlock
            #expect(try await dialog.answer(request) == .password("wrong"))
            request.warn("The password is wrong.")
            #expect(try await dialog.answer(request) == .password("right"))
            let questions = fixture.fake.questions.all
            #expect(questions.map { $0.text("warning") } == ["", "The password is wrong."])
            #expect(Set(questions.map(\.callback)).count == 1)
            #expect(fixture.fake.calls.all == ["BeginPrompting", "PerformPrompt", "PerformPrompt"])
        }
    }

    @Test
    func ask_passwordThenConfirmation_isAnsweredInTurn() async throws {
        try await PrompterFixture.run([.answer("password"), .answer("")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .password("password"))
            #expect(try await dialog.answer(.confirm) == .confirmed)
        }
    }

    @Test
    func ask_readyBeforeReply_isAnswered() async throws {
        try await PrompterFixture.run(greeting: .readyFirst, [.answer("password")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.unlock) == .password("password"))
        }
    }

    @Test
    func open_twice_keepsDialogsApart() async throws {
        try await PrompterFixture.run([.answer("first"), .answer("second")]) { fixture in
            let first = try await fixture.prompter.open()
            let second = try await fixture.prompter.open()
            #expect(try await first.answer(.unlock) == .password("first"))
            first.close()
            #expect(try await second.answer(.unlock) == .password("second"))
            #expect(Set(fixture.fake.questions.all.map(\.callback)).count == 2)
        }
    }

    @Test(arguments: [PromptRequest.unlock, .touch])
    func ask_taken_callsBack(request: PromptRequest) async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            let shown = Recorder<Void>()
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in Answer(try await dialog.ask(request) { shown.record(()) }) }
            _ = try await shown.first("the question")
            #expect(fixture.fake.questions.count == 1)
            dialog.close()
            #expect(try await answer.value == .withdrawn)
        }
    }

    // MARK: Waiting

    @Test
    func ask_waitingWithFallback_isAConfirmationWhoseYesIsTheFallback() async throws {
        try await PrompterFixture.run([.answer(""), .answer("passcode")]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.touchOrElse) == .fallback)
            let question = try await fixture.fake.questions.first("the question")
            #expect(question.type == "confirm")
            #expect(question.properties["continue-label"] == .string("Enter Password"))
            // The same dialog continues.
            #expect(try await dialog.answer(.unlock) == .password("passcode"))
            #expect(fixture.fake.calls.all.filter { $0 == "BeginPrompting" }.count == 1)
        }
    }

    @Test
    func ask_waitingWithoutFallback_showsItAgainUntilCancelled() async throws {
        try await PrompterFixture.run([.answer(""), .answer(""), .cancel]) { fixture in
            let dialog = try await fixture.prompter.open()
            #expect(try await dialog.answer(.touch) == .cancelled)
            #expect(fixture.fake.questions.count == 3)
        }
    }

    @Test
    func ask_waitingAnsweredWithoutEnd_isFailed() async throws {
        try await PrompterFixture.run([.answer("")]) { fixture in
            let dialog = try await fixture.prompter.open()
            await #expect(throws: PromptError(.failed, reason: "")) { _ = try await dialog.answer(.touch) }
        }
    }

    @Test
    func ask_evidence_isTheLastOfTheStory() async throws {
        try await PrompterFixture.run([.answer("")]) { fixture in
            let request = PromptRequest(
                question: .confirmation,
                message: "m",
                description: "why",
                caller: "secret-tool",
                callerDetails: "Asked by /usr/bin/secret-tool."
            )
            _ = try await fixture.prompter.open().answer(request)
            let story = "why\n\nDetails: Asked by /usr/bin/secret-tool."
            let question = try await fixture.fake.questions.first("the question")
            #expect(question.properties["description"] == .string(story))
        }
    }
}
