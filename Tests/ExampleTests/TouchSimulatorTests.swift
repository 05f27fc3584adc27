import Foundation
import KeychaindTestSupport
import Testing

/// The simulator and the example Notes, as on two terminals.
struct TouchSimulatorTests {
    /// The program, built with the tests.
    private let simulator = KeychainDaemon.product("KeychaindTouchSimulator")

    @Test("A note is opened by a matching touch, and not by another")
    func note_isOpenedByTouch() async throws {
        let menu = try TestTerminal()
        let process = try menu.run("exec \(simulator)")
        let address = try await menu.text(after: "DBUS_SYSTEM_BUS_ADDRESS=")
        try await menu.waitFor("not enrolled> ")
        menu.type("e\r")
        try await menu.waitFor("enrolled> ")

        try await Example.with("Notes", environment: ["DBUS_SYSTEM_BUS_ADDRESS": address]) { example in
            let terminal = try TestTerminal()
            let notes = try example.start(on: terminal)
            try await terminal.choosePassword("secret")
            try await terminal.waitFor("open> ")
            terminal.type("lock\runlock\r")
            try await terminal.waitFor("Touch the reader, or cancel to type the password of the note.")
            menu.type("n\r")
            try await menu.waitFor("A touch that does not match.")
            menu.type("m\r")
            try await menu.waitFor("A matching touch.")
            try await terminal.waitFor("The note is open.")
            // The password opens it too.
            terminal.type("lock\runlock\r")
            try await terminal.waitFor("[uc]?")
            terminal.type("u")
            try await terminal.typePassword("secret")
            try await terminal.waitFor("The note is open.")
            terminal.type("quit\r")
            #expect(try await notes.waitForExit() == .success)
        }
        menu.type("e\r")
        try await menu.waitFor("not enrolled> ")
        menu.type("q\r")
        #expect(try await process.waitForExit() == .success)
    }

    @Test("Ctrl-C removes the reader")
    func interrupt_endsAll() async throws {
        let menu = try TestTerminal()
        let process = try menu.run("exec \(simulator)")
        let address = try await menu.text(after: "DBUS_SYSTEM_BUS_ADDRESS=")
        try await menu.waitFor("not enrolled> ")
        menu.type("\u{3}")
        #expect(try await process.waitForExit() == .exited(130))
        let socket = try #require(address.split(separator: ",").first).dropFirst("unix:path=".count)
        #expect(!FileManager.default.fileExists(atPath: String(socket)))
    }
}
