import TestSupport
import Testing

/// FromOtherLanguages: one item, four programs.
struct FromOtherLanguagesTests {
    /// What has the command line of the Swift program.
    private static let others = ["with_secret_tool.sh", "with_secretstorage.py", "with_libsecret.py"]

    @Test("What each of them writes all of them read")
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

    @Test("Swift changes the item that another has made, and makes no second one", arguments: others)
    func write_anothersItem_isChanged(other: String) async throws {
        try await Example.with("FromOtherLanguages") { example in
            try await example.write("first", with: other)
            try await example.write("second", with: nil)
            let found = try await example.read(with: other)
            #expect(found == "second" || found == "second\n")
        }
    }

    @Test("Python changes the item that Swift has made", arguments: ["with_secretstorage.py", "with_libsecret.py"])
    func write_itemOfSwift_isChanged(other: String) async throws {
        try await Example.with("FromOtherLanguages") { example in
            try await example.write("first", with: nil)
            try await example.write("zweitens: ä", with: other)
            let found = try await example.read(with: nil)
            #expect(found == "zweitens: ä")
        }
    }

    @Test("Each says so when there is none", arguments: [nil] + others)
    func read_missing_fails(program: String?) async throws {
        try await Example.with("FromOtherLanguages") { example in
            let result = try await example.run(program, "read", "mail", "nobody")
            #expect(result.status == .exited(1))
        }
    }
}

extension Example {
    /// Lets the Swift program, or another, write the password of an item.
    fileprivate func write(_ password: String, with program: String?) async throws {
        let result = try await run(program, "write", "mail", "anna", input: password)
        try #require(result.succeeded, "\(result.text)\(result.errors)")
    }

    /// What the Swift program, or another, reads of the same item.
    fileprivate func read(with program: String?) async throws -> String {
        let result = try await run(program, "read", "mail", "anna")
        try #require(result.succeeded, "\(result.text)\(result.errors)")
        return result.text
    }
}
