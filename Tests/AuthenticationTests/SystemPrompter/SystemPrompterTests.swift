import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The real `gcr-prompter`, answered by keys.
@Suite(.lockedPool)
struct SystemPrompterTests {
    @Test(arguments: ["hunter2", "a longer one, with {signs}", ""])
    func ask_passwordTyped_isReadBack(password: String) async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let answer = try await fixture.ask(.unlock, in: dialog) { screen in
                if !password.isEmpty { try await screen.type(password) }
                try await screen.press("Return")
            }
            #expect(answer == .password(password))
        }
    }

    @Test
    func ask_wrongThenRight_isAskedAgainInTheSameDialog() async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let first = try await fixture.ask(.unlock, in: dialog) { screen in
                try await screen.type("wrong")
                try await screen.press("Return")
            }
            #expect(first == .password("wrong"))

            var request = PromptRequest.unlock
            request.warn("The password is wrong.")
            // The window grows for the warning.
            let count = fixture.screen.events.count
            let second = try await fixture.ask(request, in: dialog, after: count, isReady: .resized) { screen in
                try await screen.type("right")
                try await screen.press("Return")
            }
            #expect(second == .password("right"))
            #expect(fixture.screen.events.all.filter { $0 == .shown }.count == 1)
        }
    }

    @Test(arguments: [true, false])
    func ask_checkbox_isTickedByAPerson(isTicked: Bool) async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let request = PromptRequest(
                question: .password,
                message: "Password",
                choice: PromptRequest.Choice(label: "Always", explanation: "What it does")
            )
            let answer = try await fixture.ask(request, in: dialog) { screen in
                try await screen.type("right")
                if isTicked { try await screen.press("Tab", "space", "shift+Tab") }
                try await screen.press("Return")
            }
            #expect(answer == .password("right"))
            #expect(dialog.hasChosen == isTicked)
        }
    }

    @Test
    func ask_newPassword_isRepeated() async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let answer = try await fixture.ask(.create, in: dialog) { screen in
                try await screen.type("s3cret")
                try await screen.press("Tab")
                try await screen.type("s3cret")
                try await screen.press("Return")
            }
            #expect(answer == .password("s3cret"))
        }
    }

    @Test
    func ask_newPasswordsDiffer_areAskedForAgainByTheDialog() async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let answer = try await fixture.ask(.create, in: dialog) { screen in
                let count = screen.events.count
                try await screen.type("one")
                try await screen.press("Tab")
                try await screen.type("two")
                try await screen.press("Return")
                _ = try await screen.events.first("the dialog's warning", after: count) { $0 == .resized }
                try await screen.press("Escape")
            }
            #expect(answer == .cancelled)
        }
    }

    @Test
    func ask_confirmation_isConfirmed() async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let answer = try await fixture.ask(.confirm, in: dialog) { try await $0.press("Return") }
            #expect(answer == .confirmed)
        }
    }

    @Test(arguments: [PromptRequest.unlock, .create, .confirm])
    func ask_escape_isCancelled(request: PromptRequest) async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let answer = try await fixture.ask(request, in: dialog) { try await $0.press("Escape") }
            #expect(answer == .cancelled)
            _ = try await fixture.screen.events.first("the end of the dialog") { $0 == .hidden }
        }
    }

    @Test
    func ask_prompterKilled_isCrashedAndTheNextDialogWorks() async throws {
        let fixture = try await SystemPrompterFixture()
        try await fixture.withDialog { fixture, dialog in
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            _ = try await fixture.screen.events.first("the dialog") { $0 == .keyboardGrabbed }
            try await fixture.killPrompter()
            await #expect(throws: PromptError(.crashed, reason: "")) { _ = try await answer.value }
        }
        let count = fixture.screen.events.count
        try await fixture.withDialog { fixture, dialog in
            let answer = try await fixture.ask(.unlock, in: dialog, after: count) { screen in
                try await screen.type("again")
                try await screen.press("Return")
            }
            #expect(answer == .password("again"))
        }
    }

    @Test
    func close_whileAsking_takesTheDialogAway() async throws {
        try await SystemPrompterFixture().withDialog { fixture, dialog in
            let answer = try await fixture.ask(.unlock, in: dialog) { _ in dialog.close() }
            #expect(answer == .withdrawn)
            _ = try await fixture.screen.events.first("the end of the dialog") { $0 == .hidden }
        }
    }

    @Test
    func open_twoDialogs_areShownOneAfterTheOther() async throws {
        try await SystemPrompterFixture().withDialog { fixture, first in
            let second = try await fixture.makePrompter().open()
            let secondAnswer = Task.immediate { @BusActor in try await second.answer(.unlock) }
            let firstAnswer = try await fixture.ask(.unlock, in: first) { screen in
                try await screen.type("first")
                try await screen.press("Return")
            }
            #expect(firstAnswer == .password("first"))
            let count = fixture.screen.events.count
            first.close()
            _ = try await fixture.screen.events.first("the second dialog", after: count) { $0 == .keyboardGrabbed }
            try await fixture.screen.type("second")
            try await fixture.screen.press("Return")
            #expect(try await secondAnswer.value == .password("second"))
            second.close()
        }
    }

    @Test
    func open_noDisplay_isUnavailable() async throws {
        let fixture = try await SystemPrompterFixture(environment: ["DISPLAY": nil, "WAYLAND_DISPLAY": nil])
        await #expect(throws: PromptError(.unavailable, reason: "")) {
            try await fixture.withDialog { _, _ in }
        }
    }
}
