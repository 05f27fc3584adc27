import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindTestSupport
import Testing

/// Terminal pinentries on a private terminal.
@Suite(.lockedPool, .onLoop)
struct TerminalPrompterTests {
    private static let programs = ["pinentry-tty", "pinentry-curses", "pinentry-gtk-2"]

    /// Asks, and answers with keys once a text is on the terminal.
    @BusActor
    private func ask(
        _ request: PromptRequest,
        in dialog: any PromptDialog,
        on terminal: TestTerminal,
        when text: String = "Password:",
        typing keys: String
    ) async throws -> Answer {
        let answer = Task.immediate { @BusActor in try await dialog.answer(request) }
        try await terminal.waitFor(text)
        terminal.type(keys)
        return try await answer.value
    }

    // MARK: Answers

    @Test(arguments: programs, ["hunter2", "100% {signs}"])
    @BusActor
    func ask_passwordTyped_isReadBackAndNotShown(program: String, password: String) async throws {
        let fixture = try await TerminalFixture([program])
        let dialog = try await fixture.open()
        let answer = try await ask(.unlock, in: dialog, on: fixture.terminal, typing: password + "\r")
        #expect(answer == .password(password))
        dialog.close()
    }

    @Test(arguments: programs)
    @BusActor
    func ask_who_isOnTheTerminal(program: String) async throws {
        let fixture = try await TerminalFixture([program])
        let dialog = try await fixture.open()
        let request = PromptRequest(question: .password, message: "Unlock", callerDetails: "Asked by git.")
        let text = "Asked by git."
        let answer = try await ask(request, in: dialog, on: fixture.terminal, when: text, typing: "x\r")
        #expect(answer == .password("x"))
        dialog.close()
    }

    @Test("names are not set apart on a terminal, which may show the characters for that", arguments: programs)
    @BusActor
    func ask_rightToLeft_hasNoInvisibleCharacters(program: String) async throws {
        let fixture = try await TerminalFixture([program])
        let dialog = try await fixture.open()
        let message = Text.init("Unlock \("git") now")
        let request = PromptRequest(question: .password, language: .rightToLeft, message: message)
        #expect(request.message == "Unlock \u{2068}git\u{2069} now")
        let answer = try await ask(request, in: dialog, on: fixture.terminal, when: "Unlock git now", typing: "x\r")
        #expect(answer == .password("x"))
        dialog.close()
    }

    @Test(arguments: [("pinentry-tty", "\u{4}"), ("pinentry-curses", "\t\t\r")])
    @BusActor
    func ask_cancelled_isCancelled(program: String, keys: String) async throws {
        let fixture = try await TerminalFixture([program])
        let dialog = try await fixture.open()
        #expect(try await ask(.unlock, in: dialog, on: fixture.terminal, typing: keys) == .cancelled)
    }

    @Test(arguments: [("pinentry-tty", "any key"), ("pinentry-curses", "Cancel")])
    @BusActor
    func ask_waiting_oneKeyCancels(program: String, text: String) async throws {
        let fixture = try await TerminalFixture([program])
        let dialog = try await fixture.open()
        let answer = try await ask(.touch, in: dialog, on: fixture.terminal, when: text, typing: "\r")
        #expect(answer == .cancelled)
    }

    // MARK: Withdrawing

    @Test(arguments: programs)
    @BusActor
    func close_whileAsking_leavesTheTerminalAsItWas(program: String) async throws {
        let fixture = try await TerminalFixture([program])
        for _ in 0..<2 {
            let dialog = try await fixture.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.unlock) }
            try await fixture.terminal.waitFor("Password:")
            #expect(!fixture.terminal.echoes)
            dialog.close()
            #expect(try await answer.value == .withdrawn)
            // The next dialog opens after the first has closed.
            let next = try await fixture.open()
            #expect(fixture.terminal.echoes)
            next.close()
        }
    }

    // MARK: Opening

    @Test
    @BusActor
    func open_severalPrograms_takesTheFirstThatAsksThere() async throws {
        let windows = try await FakePinentry(flavor: "gtk2")
        let fixture = try await TerminalFixture(["/nowhere/pinentry", windows.path, "pinentry-tty"])
        #expect(await fixture.prompter.expectedTrust(for: fixture.requester) == .trusted)
        let dialog = try await fixture.open()
        #expect(try await ask(.unlock, in: dialog, on: fixture.terminal, typing: "x\r") == .password("x"))
        #expect(try await windows.told().contains("GETINFO flavor"))
        dialog.close()
    }

    @Test
    @BusActor
    func open_options_tellTheCallersTerminal() async throws {
        let fake = try await FakePinentry(
            greeting: "event \"env ${DISPLAY-none} ${DBUS_SESSION_BUS_ADDRESS-none}\"; echo OK",
            flavor: "gtk2:curses"
        )
        let fixture = try await TerminalFixture(
            [fake.path],
            variables: ["DISPLAY": ":1", "DBUS_SESSION_BUS_ADDRESS": "unix:"]
        )
        let dialog = try await fixture.open()
        let told = try await fake.told()
        #expect(told.contains("env none none"))
        #expect(told.contains("OPTION ttyname=\(fixture.terminal.path)"))
        #expect(told.contains("OPTION ttytype=xterm"))
        dialog.close()
    }

    @Test
    @BusActor
    func open_noPrograms_isUnavailable() async throws {
        let fixture = try await TerminalFixture(["/nowhere/pinentry"])
        #expect(await fixture.prompter.expectedTrust(for: fixture.requester) == nil)
        await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.open() }
    }

    @Test
    @BusActor
    func open_callerInTheBackground_isUnavailable() async throws {
        // With job control, the shell is in the background while its job runs.
        let fixture = try await TerminalFixture(
            ["pinentry-tty"],
            command: "set -m; sleep 1000 & echo started; fg >/dev/null"
        )
        #expect(await fixture.prompter.expectedTrust(for: fixture.requester) == nil)
        await #expect(throws: PromptError(.unavailable, reason: "")) { _ = try await fixture.open() }
    }

    /// An editor: it and the pinentry would each get some of the keys.
    @Test
    @BusActor
    func open_terminalInRawMode_isUnavailable() async throws {
        let fixture = try await TerminalFixture(
            ["pinentry-curses"],
            command: "stty raw -echo; echo started; exec sleep 1000"
        )
        let error = await #expect(throws: PromptError.self) { _ = try await fixture.open() }
        #expect(error?.reason.contains("reads single keys") == true)
    }

    @Test
    @BusActor
    func open_callerHasEnded_isUnavailable() async throws {
        let fixture = try await TerminalFixture(["pinentry-tty"])
        fixture.endCaller()
        // A zombie keeps its process id, but has no terminal.
        try await eventually("no dialog for a caller that has ended") {
            do throws(PromptError) {
                try await fixture.open().close()
                return false
            } catch {
                return true
            }
        }
    }

    @Test
    @BusActor
    func open_callerWithoutTerminal_isUnavailable() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        defer { connection.close() }
        // In a shell: setsid(1) forks if it leads its process group, as a `ChildProcess` does.
        let shell = try ChildProcess("sh", ["-c", "setsid sh -c 'echo $$; exec sleep 1000' & wait"])
        let caller = try #require(Int32(try await shell.standardOutput.lines.first("the caller's process id")))
        defer { kill(caller, SIGKILL) }
        var credentials = ConnectionCredentials()
        credentials.processID = UInt32(caller)
        let insight = try ProcessInspector().inspect(credentials)
        let prompter = TerminalPrompter(
            launcher: PinentryLauncher(logger: .silent),
            environment: [:]
        )
        await #expect(throws: PromptError(.unavailable, reason: "")) {
            _ = try await prompter.open(for: TestRequester(connection.uniqueName, insight: insight), asking: .password)
        }
    }

    /// Every program on a terminal can press its keys, so an answer does not prove a person.
    @Test
    @BusActor
    func trust_callersTerminal_isForPasswordsOnly() async throws {
        let fixture = try await TerminalFixture(["pinentry-curses"], isJudged: true)
        let dialog = try await fixture.open()
        #expect(await dialog.trust().objection?.contains("terminal") == true)
        dialog.close()
    }
}
