import KeychaindTestSupport
import Testing

/// The example Credentials on a terminal, where the keychain also asks.
struct CredentialsTests {
    @Test("Credentials are shown after the keychain's password, and are gone after their deletion")
    func credentials_addReadDelete() async throws {
        try await Example.with("Credentials") { example in
            let terminal = try TestTerminal()
            let adding = try example.start("add example.com anna", on: terminal)
            try await terminal.waitFor("Password of anna at example.com: ")
            terminal.type("correct horse\r")
            try await terminal.waitFor("Added.")
            #expect(try await adding.waitForExit() == .success)

            let reading = try example.start("read example.com", on: terminal)
            try await terminal.waitFor("Password:")
            terminal.type("password\r")
            try await terminal.waitFor("anna: correct horse")
            #expect(try await reading.waitForExit() == .success)

            let deleting = try example.start("delete example.com", on: terminal)
            try await terminal.waitFor("Password:")
            terminal.type("password\r")
            try await terminal.waitFor("Deleted.")
            #expect(try await deleting.waitForExit() == .success)

            let missing = try example.start("read example.com", on: terminal)
            try await terminal.waitFor("The specified item could not be found in the keychain.")
            #expect(try await missing.waitForExit() == .exited(1))
        }
    }

    @Test("A refusal shows nothing, and the same name is not added twice")
    func credentials_refusedAndTwice_sayWhy() async throws {
        try await Example.with("Credentials") { example in
            let terminal = try TestTerminal()
            for answer in ["Added.", "The specified item already exists in the keychain."] {
                let adding = try example.start("add example.com anna", on: terminal)
                try await terminal.waitFor("Password of anna at example.com: ")
                terminal.type("secret\r")
                try await terminal.waitFor(answer)
                try await adding.waitForExit()
            }
            let reading = try example.start("read example.com", on: terminal)
            try await terminal.waitFor("Password:")
            terminal.type("\u{4}")
            try await terminal.waitFor("canceled")
            #expect(try await reading.waitForExit() == .exited(1))
        }
    }

    @Test
    func credentials_wrongArguments_showUsage() async throws {
        try await Example.with("Credentials") { example in
            let result = try await example.run(nil, "add", "example.com")
            #expect(result.status == .exited(64) && result.text.hasPrefix("usage: Credentials"))
        }
    }
}
