import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Callers that are hard to name.
struct RuleCallerTests {
    @Test("a program with control characters in its path is named in rules, and harms no terminal")
    func controlCharacters() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            let folder = try TemporaryFolder()
            let program = folder.path("x\u{1b}[31m\n\u{202e}y z\"")
            // By another process, since what a child of this one may have inherited open for writing cannot be run.
            let copy = try await Command.run("install", ["-m", "755", "/usr/bin/secret-tool", program])
            try #require(copy.succeeded, "\(copy.errors)")
            let written = "never program:\"\(folder.path)/x\\u{1b}[31m\\n\\u{202e}y z\\\"\" *"
            try await client.addRules(written)
            let listed = try #require(try await client.ruleTexts().first)
            #expect(listed == written)
            let story = try #require(prompter.questions.all.last?.text("description"))
            #expect(!story.contains("\u{1b}") && !story.contains("\u{202e}y"))
            let found = try await Command.run(
                program,
                ["lookup", "service", "bank"],
                environment: service.daemon.environment
            )
            #expect(!found.succeeded && found.output.isEmpty)
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("a helper is known with the program that it works for")
    func chain() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            _ = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            let folder = try TemporaryFolder()
            let script = folder.path("app")
            try Data(
                "import subprocess, sys\nsys.exit(subprocess.call(['secret-tool', 'lookup', 'service', 'bank']))".utf8
            )
            .write(to: URL(fileURLWithPath: script))
            try await client.addRules("never script:\(script) through program:/usr/bin/secret-tool *")
            let environment = service.daemon.environment
            let behind = try await Command.run("/usr/bin/python3", [script], environment: environment)
            #expect(!behind.succeeded && behind.output.isEmpty)
            let alone = try await Command.run("secret-tool", ["lookup", "service", "bank"], environment: environment)
            #expect(alone.text == "secret")
        }
    }
}
