import KeychaindTestSupport
import Testing

/// The example KeychainWrapper on a terminal.
struct KeychainWrapperTests {
    @Test("Values are set, shown, changed and deleted, and outlive the program")
    func wrapper_setShowChangeDelete() async throws {
        try await Example.with("KeychainWrapper") { example in
            let terminal = try TestTerminal()
            let first = try await open(example, on: terminal)
            try await type("username", on: terminal, answer: "There is none.\r\n")
            try await type("username = 12345", on: terminal)
            try await type("username", on: terminal, answer: "12345\r\n")
            try await type("username = 6=7 8", on: terminal)
            terminal.type("\u{4}")
            #expect(try await first.waitForExit() == .success)

            let second = try await open(example, on: terminal)
            try await type("username", on: terminal, answer: "6=7 8\r\n")
            try await type("username =", on: terminal)
            try await type("username", on: terminal, answer: "There is none.\r\n")
            terminal.type("\u{4}")
            #expect(try await second.waitForExit() == .success)
        }
    }

    @Test("What fails is said: it is not taken for \"there is none\"")
    func wrapper_noKeychain_saysSo() async throws {
        try await Example.with("KeychainWrapper") { example in
            let terminal = try TestTerminal()
            let program = try await open(example, on: terminal)
            try await type("username = 12345", on: terminal)
            try await example.daemon.kill()
            let message = "No keychain is available.\r\n"
            try await type("username", on: terminal, answer: message)
            try await type("username = 1", on: terminal, answer: message)
            try await type("username =", on: terminal, answer: message)
            terminal.type("\u{4}")
            #expect(try await program.waitForExit() == .success)
        }
    }

    private func open(_ example: Example, on terminal: TestTerminal) async throws -> ChildProcess {
        let program = try example.start("myService", on: terminal)
        try await terminal.waitFor("ends.\r\n> ")
        return program
    }

    /// Types a line, and waits for its echo, the answer and the next prompt.
    private func type(_ line: String, on terminal: TestTerminal, answer: String = "") async throws {
        terminal.type(line + "\r")
        try await terminal.waitFor("\(line)\r\n\(answer)> ")
    }
}
