import Foundation
import KeychaindTestSupport
import Testing

/// The example Notes on a terminal, where the keychain also asks.
struct NotesTests {
    @Test("A note is written, locked and opened by its password, and cannot be read without it")
    func note_isWrittenLockedAndOpened() async throws {
        try await Example.with("Notes") { example in
            let terminal = try TestTerminal()
            let notes = try example.start(on: terminal)
            try await terminal.choosePassword("first")
            try await terminal.waitFor("open> ")
            terminal.type("edit\r")
            try await terminal.waitFor("contains only a dot.")
            terminal.type("Buy milk\rand bread\r.\r")
            try await terminal.waitFor("Stored.")
            terminal.type("lock\rshow\r")
            try await terminal.waitFor("The note is locked.")
            terminal.type("quit\r")
            #expect(try await notes.waitForExit() == .success)

            for file in try example.storedFiles() { #expect(file.range(of: Data("Buy milk".utf8)) == nil) }
            let again = try example.start(on: terminal)
            try await terminal.waitFor("locked> ")
            terminal.type("unlock\r")
            try await terminal.typePassword("first")
            try await terminal.waitFor("The note is open.")
            terminal.type("show\r")
            try await terminal.waitFor("Buy milk\r\nand bread")
            terminal.type("quit\r")
            #expect(try await again.waitForExit() == .success)
        }
    }

    @Test("After a change of the password only the new one opens the note, and the note can be reset")
    func password_isChanged_andTheNoteReset() async throws {
        try await Example.with("Notes") { example in
            let terminal = try TestTerminal()
            let notes = try example.start(on: terminal)
            try await terminal.choosePassword("first")
            try await terminal.waitFor("open> ")
            terminal.type("password\r")
            try await terminal.typePassword("first")
            try await terminal.choosePassword("second")
            // Deleting the old key asks separately.
            try await terminal.typePassword("first")
            try await terminal.waitFor("The note has the new password.")
            terminal.type("lock\runlock\r")
            try await terminal.typePassword("first")
            try await terminal.typePassword("second")
            try await terminal.waitFor("The note is open.")
            terminal.type("reset\r")
            try await terminal.typePassword("second")
            try await terminal.waitFor("Its key was deleted.")
            // The person starts again and cancels.
            terminal.type("unlock\r")
            try await terminal.waitFor("New password:")
            terminal.type("\u{4}")
            try await terminal.waitFor("Cancelled.")
            terminal.type("quit\r")
            #expect(try await notes.waitForExit() == .success)
        }
    }
}

extension TestTerminal {
    /// Types a password at its prompt.
    func typePassword(_ password: String) async throws {
        try await waitFor("Password:")
        type("\(password)\r")
    }

    /// Types a new password at each of its prompts.
    func choosePassword(_ password: String) async throws {
        try await waitFor("New password:")
        type("\(password)\r")
        try await waitFor("Repeat:")
        type("\(password)\r")
    }
}

extension Example {
    /// All files that the example and the keychain wrote.
    fileprivate func storedFiles() throws -> [Data] {
        let files = FileManager.default.enumerator(atPath: daemon.dataHome)?.compactMap { $0 as? String } ?? []
        let contents = files.compactMap { FileManager.default.contents(atPath: daemon.dataHome + "/" + $0) }
        try #require(files.contains("Notes/note.json") && !contents.isEmpty)
        return contents
    }
}
