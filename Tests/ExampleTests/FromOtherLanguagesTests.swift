import KeychaindTestSupport
import Testing

/// The example FromOtherLanguages: one item, four programs.
struct FromOtherLanguagesTests {
    /// The programs with the same command line as the Swift one.
    private static let others = ["with_secret_tool.sh", "with_secretstorage.py", "with_libsecret.py"]

    @Test("All programs read what each writes")
    func everyone_writes_everyoneReads() async throws {
        try await Example.with("FromOtherLanguages") { example in
            let result = try await Command.run(
                "\(example.folder)/everyone.sh",
                environment: example.daemon.environment.merging(["FROM_SWIFT": example.program]) { $1 }
            )
            #expect(result.succeeded, "\(result.text)\(result.errors)")
            #expect(result.text.split(separator: "\n").count == 20)
        }
    }

    @Test("Swift changes another program's item instead of adding a second", arguments: others)
    func write_anothersItem_isChanged(other: String) async throws {
        try await Example.with("FromOtherLanguages") { example in
            try await example.write("first", with: other)
            try await example.write("second", with: nil)
            let found = try await example.read(with: other)
            #expect(found == "second" || found == "second\n")
        }
    }

    @Test("Python changes Swift's item", arguments: ["with_secretstorage.py", "with_libsecret.py"])
    func write_itemOfSwift_isChanged(other: String) async throws {
        try await Example.with("FromOtherLanguages") { example in
            try await example.write("first", with: nil)
            try await example.write("zweitens: ä", with: other)
            let found = try await example.read(with: nil)
            #expect(found == "zweitens: ä")
        }
    }

    @Test("Each program reports a missing item", arguments: [nil] + others)
    func read_missing_fails(program: String?) async throws {
        try await Example.with("FromOtherLanguages") { example in
            let result = try await example.run(program, "read", "mail", "nobody")
            #expect(result.status == .exited(1))
        }
    }
}

extension Example {
    /// Writes the password of the item with a program.
    fileprivate func write(_ password: String, with program: String?) async throws {
        let result = try await run(program, "write", "mail", "anna", input: password)
        try #require(result.succeeded, "\(result.text)\(result.errors)")
    }

    /// Reads the password of the item with a program.
    fileprivate func read(with program: String?) async throws -> String {
        let result = try await run(program, "read", "mail", "anna")
        try #require(result.succeeded, "\(result.text)\(result.errors)")
        return result.text
    }
}
