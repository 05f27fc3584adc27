import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindLanguage
import KeychaindTestSupport
import Testing

/// Dialogs with a scripted, well-behaved pinentry.
@Suite(.lockedPool, .onLoop)
struct PinentryDialogTests {
    @Test(
        arguments: [
            ("D hunter2", "hunter2"), ("D 50%25 off%0A", "50% off\n"), ("D one\nD  two", "one two"),
            ("D", ""), ("D ", ""), ("S PASSWORD_FROM_CACHE\n# a remark\nD x", "x"),
        ]
    )
    @BusActor
    func ask_password_isReadBack(lines: String, password: String) async throws {
        let fake = try await FakePinentry(answers: "GETPIN) echo '\(lines)'; echo OK;;")
        guard lines != "D" else {
            // An empty password comes without a data line.
            let fake = try await FakePinentry()
            #expect(try await PinentryFixture(fake.path).answer(.unlock) == .password(""))
            return
        }
        #expect(try await PinentryFixture(fake.path).answer(.unlock) == .password(password))
    }

    @Test
    @BusActor
    func ask_longestPassword_isReadBackAndLongerIsRefused() async throws {
        let line = "D " + String(repeating: "p", count: 998)
        let longest = String(repeating: "\(line)\n", count: 4) + "D " + String(repeating: "p", count: 104)
        let fake = try await FakePinentry(answers: "GETPIN) echo '\(longest)'; echo OK;;")
        let answer = try await PinentryFixture(fake.path).answer(.unlock)
        #expect(answer == .password(String(repeating: "p", count: 4096)))

        let tooLong = try await FakePinentry(answers: "GETPIN) echo '\(longest)p'; echo OK;;")
        await #expect(throws: PromptError(.failed, reason: "")) {
            _ = try await PinentryFixture(tooLong.path).answer(.unlock)
        }
    }

    @Test(
        arguments: [
            (PromptRequest.unlock, "GETPIN", 83_886_179), (.unlock, "GETPIN", 536_871_110),
            (.create, "GETPIN", 83_886_179),
            (.confirm, "CONFIRM", 83_886_179), (.confirm, "CONFIRM", 83_886_194),
        ]
    )
    @BusActor
    func ask_cancelled_isCancelledAndStaysSo(request: PromptRequest, command: String, code: Int) async throws {
        let fake = try await FakePinentry(answers: "\(command)) echo 'ERR \(code) no <fake>';;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        #expect(try await dialog.answer(request) == .cancelled)
        #expect(try await dialog.answer(request) == .cancelled)
    }

    @Test
    @BusActor
    func ask_confirmation_isConfirmed() async throws {
        let fake = try await FakePinentry()
        #expect(try await PinentryFixture(fake.path).answer(.confirm) == .confirmed)
        #expect(try await fake.told().contains("CONFIRM"))
    }

    @Test
    @BusActor
    func ask_pinentryTimesOut_isTimedOut() async throws {
        let fake = try await FakePinentry(
            answers: "GETPIN) echo 'S ERROR fake 83886142'; echo 'ERR 83886142 Timeout';;"
        )
        await #expect(throws: PromptError(.timedOut, reason: "")) {
            _ = try await PinentryFixture(fake.path).answer(.unlock)
        }
    }

    @Test
    @BusActor
    func ask_pinentryRefuses_isFailedAndStaysSo() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) echo 'ERR 83886255 Not supported';;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        for _ in 0..<2 {
            await #expect(throws: PromptError(.failed, reason: "")) { _ = try await dialog.answer(.unlock) }
        }
    }

    @Test
    @BusActor
    func ask_allTexts_areSetBeforeTheQuestion() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) echo 'D x'; echo OK;;")
        let request = PromptRequest(
            question: .password,
            title: "Unlock Keychain",
            message: "Unlock “<b>50%</b>”",
            description: "A program\nwants it.",
            warning: "Not right.",
            continueLabel: "Un_lock",
            cancelLabel: "Cancel"
        )
        _ = try await PinentryFixture(fake.path, timeout: .seconds(90)).answer(request)
        let sent = try await fake.told()
        let question = try #require(sent.firstIndex(of: "GETPIN"))
        for line in [
            "SETTITLE Unlock Keychain", "SETDESC Unlock “‹b>50%25‹/b>”%0A%0AA program%0Awants it.",
            "SETERROR Not right.", "SETOK Un__lock", "SETCANCEL Cancel", "SETPROMPT Password:", "SETTIMEOUT 90",
        ] {
            #expect(sent[..<question].contains(line), "\(line)")
        }
        #expect(!sent.contains { $0.hasPrefix("SETREPEAT") })
        #expect(!sent.contains { $0.contains("allow-external-password-cache") })
    }

    @Test
    @BusActor
    func ask_unknownSettings_areDoneWithout() async throws {
        let fake = try await FakePinentry(
            answers: "GETPIN) echo 'D x'; echo OK;; SET*|RESET|OPTION*) echo 'ERR 536871187 Unknown IPC command';;"
        )
        #expect(try await PinentryFixture(fake.path).answer(.unlock) == .password("x"))
    }

    @Test
    @BusActor
    func ask_longTexts_areCutToALineThatSaysWhoAsks() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) echo 'D x'; echo OK;;")
        let text = String(repeating: "ä", count: 1500)
        let request = PromptRequest(
            question: .password,
            message: "\(text)",
            description: "\(text)",
            caller: "secret-tool",
            callerDetails: "Asked by /usr/bin/secret-tool."
        )
        _ = try await PinentryFixture(fake.path).answer(request)
        let line = try #require(try await fake.told().first { $0.hasPrefix("SETDESC") })
        #expect(line.hasPrefix("SETDESC ää") && line.contains("ä…%0A%0Aä"))
        #expect(line.hasSuffix("ä…%0A%0ADetails: Asked by /usr/bin/secret-tool."))
        #expect((980...1000).contains(line.utf8.count))
    }

    @Test("Characters that take more room in a line than in the text push nothing out of it", arguments: ["%", "<"])
    @BusActor
    func ask_escapedCharacters_areCutLikeOthers(character: String) async throws {
        let fake = try await FakePinentry(answers: "GETPIN) echo 'D x'; echo OK;;")
        let text = String(repeating: character, count: 1500)
        let request = PromptRequest(
            question: .password,
            message: "\(text)",
            description: "Every program may use everything.",
            caller: "secret-tool",
            callerDetails: "\(text)"
        )
        _ = try await PinentryFixture(fake.path).answer(request)
        let line = try #require(try await fake.told().first { $0.hasPrefix("SETDESC") })
        #expect(line.contains("…%0A%0AEvery program may use everything.%0A%0A") && line.hasSuffix("…"))
        #expect(line.utf8.count <= 1000)
    }

    @Test @BusActor
    func ask_message_isFirstInTheDescription() async throws {
        let fake = try await FakePinentry(flavor: "qt", answers: "GETPIN) echo 'D x'; echo OK;;")
        let request = PromptRequest(question: .password, message: "Unlock 100%", callerDetails: "Asked by git.")
        _ = try await PinentryFixture(fake.path).answer(request)
        let told = try await fake.told()
        #expect(told.contains("SETPROMPT Password:"))
        #expect(told.contains("SETDESC Unlock 100%25%0A%0ADetails: Asked by git."))
    }

    /// pinentry-qt would make its window as wide as the longest line.
    @Test
    @BusActor
    func ask_longLinesByQt_areBroken() async throws {
        let fake = try await FakePinentry(flavor: "qt", answers: "GETPIN) echo 'D x'; echo OK;;")
        let word = String(repeating: "w", count: 100)
        let request = PromptRequest(
            question: .password,
            message: "m",
            description: "a \(word)\n\(String(repeating: "word ", count: 40))",
            callerDetails: "\(String(repeating: "Details ", count: 20))"
        )
        _ = try await PinentryFixture(fake.path).answer(request)
        let line = try #require(try await fake.told().first { $0.hasPrefix("SETDESC ") })
        let lines = line.dropFirst("SETDESC ".count).replacing("%0A", with: "\n").split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 72 || $0 == word })
        #expect(lines.count == 9 && lines[1] == "a")
    }

    // MARK: Other questions

    @Test
    @BusActor
    func ask_waiting_hasOneButtonThatCancels() async throws {
        let fake = try await FakePinentry()
        let request = PromptRequest(question: .waiting, message: "Touch the reader", cancelLabel: "Not now")
        #expect(try await PinentryFixture(fake.path).answer(request) == .cancelled)
        let told = try await fake.told()
        #expect(told.contains("SETOK Not now"))
        #expect(told.contains("CONFIRM --one-button"))
        #expect(!told.contains { $0.hasPrefix("SETCANCEL") })
    }

    @Test(arguments: [("OK", Answer.fallback), ("ERR 83886179 no", .cancelled), ("ERR 83886194 no", .cancelled)])
    @BusActor
    func ask_waitingWithFallback_tellsWhichButton(reply: String, answer: Answer) async throws {
        let fake = try await FakePinentry(answers: "CONFIRM) echo '\(reply)';;")
        #expect(try await PinentryFixture(fake.path).answer(.touchOrElse) == answer)
        #expect(try await fake.told().contains("SETOK Enter Password"))
    }

    @Test(
        arguments: [("OK", Answer.confirmed, false), ("ERR 83886179 no", .cancelled, false)]
            + [("ERR 83886194 no", .confirmed, true)]
    )
    @BusActor
    func ask_confirmationWithChoice_tellsWhichOfThreeButtons(reply: String, answer: Answer, isChosen: Bool) async throws
    {
        let fake = try await FakePinentry(answers: "CONFIRM) echo '\(reply)';;")
        let choice = PromptRequest.Choice<Text>(label: "Always", explanation: "You are not asked again.")
        let request = PromptRequest(question: .confirmation, message: "Really?", choice: choice)
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        defer { dialog.close() }
        #expect(try await dialog.answer(request) == answer)
        #expect(dialog.hasChosen == isChosen)
        let told = try await fake.told()
        #expect(told.contains("SETNOTOK Always"))
        #expect(told.contains { $0.hasPrefix("SETDESC") && $0.hasSuffix("You are not asked again.") })
    }

    @Test
    @BusActor
    func ask_fallbackThenPassword_isTheSameProcess() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) echo 'D x'; echo OK;;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        #expect(try await dialog.answer(.touchOrElse) == .fallback)
        #expect(try await dialog.answer(.unlock) == .password("x"))
        #expect(try await fake.told().filter { $0.hasPrefix("pid ") }.count == 1)
    }

    @Test
    @BusActor
    func ask_wrongThenRight_isAskedAgainInTheSameProcess() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) echo \"D ${next:-wrong}\"; next=right; echo OK;;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        #expect(try await dialog.answer(.unlock) == .password("wrong"))
        var request = PromptRequest.unlock
        request.warn("Not right.")
        #expect(try await dialog.answer(request) == .password("right"))
        #expect(try await fake.told().filter { $0.hasPrefix("pid ") }.count == 1)
        dialog.close()
    }

    // MARK: keychaind's own program

    @Test("Each text has its place, and what changes is sent while the dialog waits")
    @BusActor
    func ask_ownProgram_isRevisedWhileItAsks() async throws {
        let fake = try await FakePinentry(
            flavor: "keychaind",
            answers: """
                GETPIN) echo 'S SHOWN'
                    while read -r line; do
                        event "$line"
                        # The last of the changes.
                        [[ $reader$line = recognisedSETERROR* ]] && printf 'S CHOSEN\\nD x\\nOK\\n' && break
                        [[ $line = SETREADER* ]] && reader=${line#* }
                    done;;
                """
        )
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        defer { dialog.close() }
        func request(_ touch: PromptRequest.Touch, warning: Text = .empty) -> PromptRequest {
            PromptRequest(
                question: .password,
                message: "git wants to use “Bank”",
                description: "Touch the reader.",
                callerDetails: "git.",
                warning: warning,
                choice: PromptRequest.Choice(label: "Always", explanation: "You are not asked again."),
                touch: touch
            )
        }
        let shown = Promise<Void>()
        let answer = Task.immediate { @BusActor in
            Answer(try await dialog.ask(request(.waiting)) { shown.fulfill() })
        }
        await shown.wait()
        #expect(dialog.revise(request(.unrecognised, warning: "Try again.")))
        #expect(dialog.revise(request(.recognised)))
        #expect(try await answer.value == .password("x"))
        #expect(dialog.hasChosen)
        let told = try await fake.told()
        let question = try #require(told.firstIndex(of: "GETPIN"))
        for line in [
            "SETHEADLINE git wants to use “Bank”", "SETDESC Touch the reader.%0A%0AYou are not asked again.",
            "SETDETAILS git.", "SETDETAILSLABEL Who is asking?", "SETCHOICE Always", "SETREADER waiting",
            "SETDELAY 0", "SETERROR", "SETWAIT", "OPTION lc-messages=en",
        ] {
            #expect(told[..<question].contains { $0.trimmingCharacters(in: .whitespaces) == line }, "\(line)")
        }
        let changes = told[(question + 1)...].map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(changes == ["SETREADER unrecognised", "SETERROR Try again.", "SETREADER recognised", "SETERROR"])
    }

    @Test("keychaind's own dialog says whether it is active, anew for each question; another one cannot")
    @BusActor
    func ask_ownProgram_saysWhetherItIsActive() async throws {
        let own = try await FakePinentry(
            flavor: "keychaind",
            answers: "GETPIN) printf 'S SHOWN\\nS ACTIVE\\n'; [[ $next ]] && echo 'S INACTIVE'; next=1; echo OK;;"
        )
        let dialog = try await PinentryFixture(own.path).prompter.open()
        defer { dialog.close() }
        var isActive: [Bool] = []
        for _ in 1...2 {
            _ = try await Answer(dialog.ask(.unlock) { isActive.append(dialog.isActive) })
            isActive.append(dialog.isActive)
        }
        #expect(isActive == [false, true, false, false])
        let other = try await FakePinentry(answers: "GETPIN) echo OK;;")
        let otherDialog = try await PinentryFixture(other.path).prompter.open()
        defer { otherDialog.close() }
        _ = try await otherDialog.answer(.unlock)
        #expect(otherDialog.isActive)
    }

    @Test
    @BusActor
    func ask_tooManyWrong_tellsOwnProgramTheDelay() async throws {
        let fake = try await FakePinentry(flavor: "keychaind", answers: "GETPIN) printf 'S SHOWN\\nD x\\nOK\\n';;")
        var request = PromptRequest.unlock
        request.warn("Wrong.", delay: .milliseconds(4200))
        #expect(request.warning == "Wrong. Wait 5 seconds before the next.")
        _ = try await PinentryFixture(fake.path).answer(request)
        let told = try await fake.told()
        for line in ["SETERROR Wrong.", "SETWAIT Wait \u{FFFC} before the next.", "SETDELAY 5"] {
            #expect(told.contains(line), "\(line)")
        }
    }

    // MARK: New passwords

    @Test
    @BusActor
    func ask_newPasswordRepeatedByThePinentry_isAskedForOnce() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) printf 'S PIN_REPEATED\\nD new\\nOK\\n';;")
        #expect(try await PinentryFixture(fake.path).answer(.create) == .password("new"))
        let told = try await fake.told()
        #expect(told.filter { $0 == "GETPIN" }.count == 1)
        #expect(told.contains { $0.hasPrefix("SETREPEAT ") })
    }

    @Test
    @BusActor
    func ask_newPasswordNotRepeatedByThePinentry_isAskedForTwice() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) printf 'D new\\nOK\\n';;")
        #expect(try await PinentryFixture(fake.path).answer(.create) == .password("new"))
        let told = try await fake.told()
        #expect(told.filter { $0 == "GETPIN" }.count == 2)
        #expect(told.contains("SETPROMPT Repeat:"))
    }

    @Test
    @BusActor
    func ask_newPasswordsDiffer_areAskedForAgainWithAWarning() async throws {
        let fake = try await FakePinentry(
            answers: "GETPIN) n=$((n + 1)); [ $n = 1 ] && echo 'D typo' || echo 'D new'; echo OK;;"
        )
        #expect(try await PinentryFixture(fake.path).answer(.create) == .password("new"))
        let told = try await fake.told()
        #expect(told.filter { $0 == "GETPIN" }.count == 4)
        #expect(told.contains("SETERROR The two passwords are not the same."))
    }

    @Test
    @BusActor
    func ask_newPasswordNeverTheSame_isFailed() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) n=$((n + 1)); printf 'D %s\\nOK\\n' $n;;")
        await #expect(throws: PromptError(.failed, reason: "")) {
            _ = try await PinentryFixture(fake.path).answer(.create)
        }
    }
}
