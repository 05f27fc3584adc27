import Foundation
import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Pinentries that are missing, die, hang or violate the protocol, and dialogs that are closed.
@Suite(.lockedPool, .onLoop)
struct PinentryFailureTests {
    // MARK: Opening

    @Test
    @BusActor
    func open_noDisplay_isUnavailableAndStartsNothing() async throws {
        let fake = try await FakePinentry()
        for environment in [[:], ["DISPLAY": "", "WAYLAND_DISPLAY": ""]] as [[String: String?]] {
            let fixture = try await PinentryFixture(fake.path, environment: environment)
            await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.prompter.open() }
        }
        #expect(try await fake.told().isEmpty)
    }

    @Test(arguments: ["/nowhere/pinentry", "no-such-pinentry", "/etc/passwd", "/etc"])
    @BusActor
    func open_noProgram_isUnavailable(program: String) async throws {
        let fixture = try await PinentryFixture(program)
        await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.prompter.open() }
    }

    @Test(arguments: ["tty", "curses", "gtk2:curses", "gnome3:tty", "gnome3", "dumb", ""])
    @BusActor
    func open_asksOnTerminal_isUnavailableAndReaped(flavor: String) async throws {
        let fake = try await FakePinentry(flavor: flavor)
        let fixture = try await PinentryFixture(fake.path)
        await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.prompter.open() }
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test
    @BusActor
    func open_noGetInfo_isUnavailable() async throws {
        let fake = try await FakePinentry(answers: "GETINFO*) echo 'ERR 536871187 Unknown IPC command';;")
        let fixture = try await PinentryFixture(fake.path)
        await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.prompter.open() }
    }

    @Test(
        arguments: [
            ("exit 0", PromptError.Code.crashed), ("kill -9 $$", .crashed), ("exec 0<&- 1>&-; sleep 1000", .crashed),
            ("echo garbage", .failed), ("echo 'ERR 1 no'", .unavailable), ("echo; echo OK", .failed),
            ("head -c 2000 /dev/zero", .failed), ("yes '# remark'", .failed), ("echo 'D x%4'", .failed),
        ]
    )
    @BusActor
    func open_badGreeting_isErrorAndReaped(greeting: String, code: PromptError.Code) async throws {
        let fake = try await FakePinentry(greeting: greeting)
        let fixture = try await PinentryFixture(fake.path)
        await #expect(throws: PromptError(code, reason: "")) { _ = try await fixture.prompter.open() }
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test(arguments: ["read never", "trap '' TERM; while :; do sleep 1000; done"])
    @BusActor
    func open_silence_isTimedOutAndReaped(greeting: String) async throws {
        let fake = try await FakePinentry(greeting: "event silent; \(greeting)")
        // Repeats with longer limits until the process has started; before that it has no id to check.
        for timeout in Patience.growing {
            let fixture = try await PinentryFixture(fake.path, commandTimeout: timeout)
            await #expect(throws: PromptError(.timedOut, reason: "")) { _ = try await fixture.prompter.open() }
            if try await fake.told().contains("silent") { break }
        }
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test
    @BusActor
    func open_descriptorLeftOpen_isNotInherited() async throws {
        let fake = try await FakePinentry(greeting: "event \"open $(readlink /proc/$$/fd/* | tr '\\n' ' ')\"; echo OK")
        // Without close-on-exec, as some libraries leave descriptors.
        let folder = try TemporaryFolder()
        let leaked = open(try folder.write("", to: "leaked"), O_RDONLY)
        defer { close(leaked) }
        _ = try await PinentryFixture(fake.path).answer(.confirm)
        let inherited = try await fake.event("the descriptors") { $0.hasPrefix("open ") }
        #expect(inherited.contains("/dev/null"))
        #expect(!inherited.contains("leaked"))
    }

    @Test
    @BusActor
    func open_environment_isOnlyWhatWindowsNeed() async throws {
        let fake = try await FakePinentry(
            greeting: "event \"env ${LD_PRELOAD-none} ${GTK_MODULES-none} ${DISPLAY-none} ${LC_ALL-none}\"; echo OK"
        )
        let fixture = try await PinentryFixture(
            fake.path,
            environment: ["DISPLAY": ":7", "LD_PRELOAD": "", "GTK_MODULES": "spy", "LC_ALL": "C.UTF-8"]
        )
        #expect(try await fixture.answer(.confirm) == .confirmed)
        let told = try await fake.told()
        #expect(told.contains("env none none :7 C.UTF-8"))
        #expect(told.contains("OPTION lc-ctype=C.UTF-8"))
    }

    @Test
    @BusActor
    func open_secondDialog_waitsForTheFirst() async throws {
        let fake = try await FakePinentry()
        let fixture = try await PinentryFixture(fake.path)
        let first = try await fixture.prompter.open()
        let second = Task.immediate { @BusActor in try await fixture.answer(.confirm) }
        #expect(try await first.answer(.confirm) == .confirmed)
        var told = try await fake.told()
        #expect(told.filter { $0.hasPrefix("pid ") }.count == 1)
        first.close()
        #expect(try await second.value == .confirmed)
        told = try await fake.told()
        #expect(told.filter { $0.hasPrefix("pid ") }.count == 2)
    }

    // MARK: Asking

    @Test(
        arguments: [
            ("exit 0", PromptError.Code.crashed), ("kill -9 $$", .crashed), ("sleep 1000 & exit 0", .crashed),
            ("echo garbage", .failed), ("echo 'ERR x'", .failed), ("echo 'D %G0'", .failed), ("echo 'D %4'", .failed),
            ("echo 'INQUIRE QUALITY x'", .failed), ("printf 'OK\\nOK\\n'", .failed),
            ("head -c 5000 /dev/zero", .failed), ("yes 'S NEWS'", .failed),
        ]
    )
    @BusActor
    func ask_badAnswer_isErrorAndReaped(script: String, code: PromptError.Code) async throws {
        let fake = try await FakePinentry(answers: "SETTIMEOUT*) \(script);;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        await #expect(throws: PromptError(code, reason: "")) { _ = try await dialog.answer(.unlock) }
        await #expect(throws: PromptError(code, reason: "")) { _ = try await dialog.answer(.unlock) }
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test("An answer of keychaind's own dialog counts once it is shown", arguments: ["D x", "S SHOWING"])
    @BusActor
    func ask_ownProgramAnswersBeforeItIsShown_isFailed(line: String) async throws {
        let fake = try await FakePinentry(flavor: "keychaind", answers: "GETPIN) printf '\(line)\\nOK\\nS SHOWN\\n';;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        await #expect(throws: PromptError(.failed, reason: "")) { _ = try await dialog.answer(.unlock) }
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test
    @BusActor
    func ask_silence_isTimedOutAndReaped() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) ;;")
        let fixture = try await PinentryFixture(
            fake.path,
            timeout: .milliseconds(1),
            grace: .milliseconds(1)
        )
        let dialog = try await fixture.prompter.open()
        await #expect(throws: PromptError(.timedOut, reason: "")) { _ = try await dialog.answer(.unlock) }
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test
    @BusActor
    func ask_inputNeverReadButAnswered_endsAndIsReaped() async throws {
        let fake = try await FakePinentry(greeting: "printf 'OK\\nD fake\\nOK\\n'; event deaf; sleep 1000")
        // Repeats with longer limits until the process has started.
        for timeout in Patience.growing {
            let fixture = try await PinentryFixture(fake.path, commandTimeout: timeout)
            await #expect(throws: PromptError.self) { _ = try await fixture.answer(.unlock) }
            if try await fake.told().contains("deaf") { break }
        }
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test
    @BusActor
    func ask_twiceAtOnce_secondFails() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) ;;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        let first = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
        await #expect(throws: PromptError(.failed, reason: "")) { _ = try await dialog.answer(.unlock) }
        dialog.close()
        #expect(try await first.value == .withdrawn)
    }

    // MARK: Closing

    @Test(arguments: ["GETPIN", "RESET", "SETDESC*"])
    @BusActor
    func close_whileAsking_isWithdrawnAndReaped(command: String) async throws {
        let fake = try await FakePinentry(answers: "\(command)) event waiting; sleep 1000;;")
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
        try await fake.event("the question") { $0 == "waiting" }
        dialog.close()
        #expect(try await answer.value == .withdrawn)
        #expect(try await dialog.answer(.unlock) == .withdrawn)
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test
    @BusActor
    func close_termIgnored_isKilledWithWhatItHasStarted() async throws {
        let fake = try await FakePinentry(
            answers: "GETPIN) trap '' TERM; sleep 1000 & event \"child $!\"; event waiting; wait; sleep 1000;;"
        )
        let dialog = try await PinentryFixture(fake.path).prompter.open()
        let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
        try await fake.event("the question") { $0 == "waiting" }
        dialog.close()
        #expect(try await answer.value == .withdrawn)
        #expect(await Reaping.hasReaped(try fake.processID()))
    }

    @Test
    @BusActor
    func close_dialogForgotten_isReaped() async throws {
        let fake = try await FakePinentry()
        let fixture = try await PinentryFixture(fake.path)
        _ = try await fixture.prompter.open()
        #expect(await Reaping.hasReaped(try fake.processID()))
        // The next dialog is not blocked.
        try await fixture.prompter.open().close()
    }

    @Test
    @BusActor
    func closePrompter_dialogOpen_isReaped() async throws {
        let fake = try await FakePinentry(answers: "GETPIN) event waiting;;")
        let fixture = try await PinentryFixture(fake.path)
        let dialog = try await fixture.prompter.open()
        let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
        try await fake.event("the question") { $0 == "waiting" }
        fixture.launcher.close()
        #expect(try await answer.value == .withdrawn)
        #expect(await Reaping.hasReaped(try fake.processID()))
    }
}
