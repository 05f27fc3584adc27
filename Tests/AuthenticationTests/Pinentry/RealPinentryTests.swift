import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Installed pinentries on a private display, answered with keys.
@Suite(.lockedPool, .onLoop)
struct RealPinentryTests {
    private static let windowed = ["pinentry-gtk-2", "pinentry-qt"]
    private static let x11Folder = "/tmp/.X11-unix"

    @Test(arguments: windowed, ["hunter2", "100% {signs}", ""])
    @BusActor
    func ask_passwordTyped_isReadBack(program: String, password: String) async throws {
        let (screen, fixture) = try await start(program)
        let answer = try await ask(.unlock, fixture, screen) {
            if !password.isEmpty { try await screen.type(password) }
            try await screen.press("Return")
        }
        #expect(answer == .password(password))
    }

    @Test(arguments: windowed)
    @BusActor
    func trust_systemProgram_isGiven(program: String) async throws {
        let screen = try await Screen()
        let environment = screen.environment.merging(["HOME": "/nonexistent"]) { $1 }
        let fixture = try await PinentryFixture(
            program,
            isJudged: true,
            x11Folder: RealPinentryTests.x11Folder,
            environment: environment
        )
        let dialog = try await fixture.prompter.open()
        #expect(await dialog.trust() == .trusted)
        let answer = try await ask(.confirm, dialog, screen) {
            #expect(await dialog.trust() == .trusted)
            // Another user's session is in front.
            try fixture.screen.writeSession(["ACTIVE": "0"])
            #expect(await dialog.trust() == .passwordsOnly(reason: "its session is not on the screen"))
            try await screen.press("Escape")
        }
        #expect(answer == .cancelled)
        dialog.close()
    }

    @Test("A display that the environment names, and nobody sees, gets questions for passwords only")
    @BusActor
    func trust_otherDisplay_isNotGiven() async throws {
        let screen = try await Screen()
        let folder = try TemporaryFolder()
        let fixture = try await PinentryFixture(
            "pinentry-qt",
            isJudged: true,
            x11Folder: folder.path,
            environment: screen.environment
        )
        let objection = PrompterTrust.passwordsOnly(reason: "its display is not known to be on a screen")
        #expect(await fixture.prompter.expectedTrust(for: TestRequester(":1.1")) == objection)
        let dialog = try await fixture.prompter.open()
        #expect(await dialog.trust() == objection)
        dialog.close()
    }

    @Test
    @BusActor
    func trust_programOfTheUsers_isNotGiven() async throws {
        let pinentry = try await FakePinentry()
        // Root may run the tests: others than the owner can change the file.
        chmod(pinentry.path, 0o777)
        let fixture = try await PinentryFixture(pinentry.path, isJudged: true)
        let dialog = try await fixture.prompter.open()
        #expect(await dialog.trust().objection?.contains("is no system program") == true)
        dialog.close()
    }

    @Test(arguments: windowed)
    @BusActor
    func ask_escape_isCancelled(program: String) async throws {
        let (screen, fixture) = try await start(program)
        #expect(try await ask(.unlock, fixture, screen) { try await screen.press("Escape") } == .cancelled)
        #expect(try await ask(.confirm, fixture, screen) { try await screen.press("Escape") } == .cancelled)
    }

    /// In GTK's window, the button that reveals the password is between the fields.
    @Test(arguments: [("pinentry-gtk-2", ["Tab", "Tab"]), ("pinentry-qt", ["Tab"])])
    @BusActor
    func ask_newPasswordRepeated_isReadBack(program: String, toTheSecondField keys: [String]) async throws {
        let (screen, fixture) = try await start(program)
        let answer = try await ask(.create, fixture, screen) {
            try await screen.type("s3cret")
            for key in keys { try await screen.press(key) }
            try await screen.type("s3cret")
            try await screen.press("Return")
        }
        #expect(answer == .password("s3cret"))
    }

    @Test(arguments: windowed)
    @BusActor
    func ask_wrongThenRight_isAskedAgain(program: String) async throws {
        let (screen, fixture) = try await start(program)
        let dialog = try await fixture.prompter.open()
        defer { dialog.close() }
        var request = PromptRequest.unlock
        for password in ["wrong", "right"] {
            let answer = try await ask(request, dialog, screen) {
                try await screen.type(password)
                try await screen.press("Return")
            }
            #expect(answer == .password(password))
            request.warn("That password was not right.")
        }
    }

    @Test(arguments: windowed)
    @BusActor
    func ask_nobodyAnswers_isTimedOut(program: String) async throws {
        // Repeats with longer limits until the window appeared in time.
        for seconds in [3, 10, 30, 90] {
            let (screen, fixture) = try await start(program, timeout: .seconds(seconds))
            await #expect(throws: PromptError(.timedOut, reason: "")) { _ = try await fixture.answer(.unlock) }
            guard screen.events.all.contains(.shown) else { continue }
            _ = try await screen.events.first("the end of the window") { $0 == .hidden }
            return
        }
        Issue.record("no window was shown")
    }

    @Test(arguments: windowed)
    @BusActor
    func close_whileAsking_takesTheWindowAway(program: String) async throws {
        let (screen, fixture) = try await start(program)
        let dialog = try await fixture.prompter.open()
        #expect(try await ask(.unlock, dialog, screen) { dialog.close() } == .withdrawn)
        _ = try await screen.events.first("the end of the window") { $0 == .hidden }
    }

    @Test(arguments: windowed + ["pinentry-gnome3"])
    @BusActor
    func open_noSuchDisplay_isError(program: String) async throws {
        // The display does not exist: some pinentries report a fallback to a terminal, others exit.
        let fixture = try await PinentryFixture(program, environment: ["DISPLAY": ":54321"])
        await #expect(throws: PromptError.self) { _ = try await fixture.prompter.open() }
    }

    @Test(arguments: ["pinentry-tty", "pinentry-curses"])
    @BusActor
    func open_asksOnTerminal_isUnavailable(program: String) async throws {
        let fixture = try await PinentryFixture(program)
        let error = await #expect(throws: PromptError.self) { _ = try await fixture.prompter.open() }
        #expect(error?.code == .unavailable)
        #expect(error?.reason.contains("asks on a terminal") == true)
    }

    /// pinentry-gnome3, if started, would wait for its turn behind a dialog of keychaind.
    @Test
    @BusActor
    func open_linkToOneWithoutWindows_takesTheNext() async throws {
        let folder = try TemporaryFolder()
        for name in ["pinentry-gnome3", "pinentry-curses"] {
            let link = folder.path("link-to-\(name)")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/usr/bin/\(name)")
            let alone = try await PinentryFixture(link)
            #expect(await alone.prompter.expectedTrust(for: TestRequester(":1.1")) == nil)
            let error = await #expect(throws: PromptError.self) { _ = try await alone.prompter.open() }
            #expect(error?.code == .unavailable)

            let screen = try await Screen()
            let both = try await PinentryFixture(link, "pinentry-qt", environment: screen.environment)
            #expect(await both.prompter.expectedTrust(for: TestRequester(":1.1")) == .trusted)
            try await both.prompter.open().close()
        }
    }

    /// The user's own would get passwords, but no touch.
    @Test
    @BusActor
    func open_usersOwnIsFirstInPath_takesTheSystems() async throws {
        let folder = try TemporaryFolder()
        let own = folder.path("pinentry-qt")
        try Data("#!/bin/false".utf8).write(to: URL(filePath: own))
        // Root may run the tests: others than the owner can change the file.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: own)
        let screen = try await Screen()
        let environment = screen.environment.merging(["PATH": "\(folder.path):/usr/bin:/bin"]) { $1 }
        let both = try await PinentryFixture(
            "pinentry-qt",
            isJudged: true,
            x11Folder: RealPinentryTests.x11Folder,
            environment: environment
        )
        #expect(await both.prompter.expectedTrust(for: TestRequester(":1.1")) == .trusted)
        try await both.prompter.open().close()

        let alone = try await PinentryFixture(own, isJudged: true, environment: environment)
        #expect(await alone.prompter.expectedTrust(for: TestRequester(":1.1"))?.objection != nil)
    }

    // MARK: Helpers

    @BusActor
    private func start(
        _ program: String,
        timeout: Duration = .seconds(300)
    ) async throws -> (Screen, PinentryFixture) {
        let screen = try await Screen()
        let environment = screen.environment.merging(["HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]) { $1 }
        return (screen, try await PinentryFixture(program, environment: environment, timeout: timeout))
    }

    @BusActor
    private func ask(
        _ request: PromptRequest,
        _ fixture: PinentryFixture,
        _ screen: Screen,
        answering: () async throws -> Void
    ) async throws -> Answer {
        let dialog = try await fixture.prompter.open()
        defer { dialog.close() }
        return try await ask(request, dialog, screen, answering: answering)
    }

    /// Asks, then answers once the window has the keyboard focus.
    @BusActor
    private func ask(
        _ request: PromptRequest,
        _ dialog: any PromptDialog,
        _ screen: Screen,
        answering: () async throws -> Void
    ) async throws -> Answer {
        let count = screen.events.count
        let answer = Task.immediate { @BusActor in try await dialog.answer(request) }
        _ = try await screen.events.first("the window", after: count) { [.focused, .keyboardGrabbed].contains($0) }
        try await answering()
        return try await answer.value
    }
}
