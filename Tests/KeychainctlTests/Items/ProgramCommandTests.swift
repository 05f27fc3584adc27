import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl with secrets for programs")
struct ProgramCommandTests {
    @Test("A command gets the secret in its environment, and its arguments and input as they are")
    func run_commandHasSecret() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("A label", ["service": "gh", "user": "anna smith"], "line\nüx")
            for query in ["service=gh user=anna smith", "label:A label", "id:login/1"] {
                let script = "printf '%s|%s|%s' \"$TOKEN\" \"$1\" \"$(cat)\""
                let arguments = ["run", "--env", "TOKEN=\(query)", "--", "sh", "-c", script, "-", "--json"]
                let result = try await controlled.run(arguments, input: Array("input".utf8))
                #expect(result.text == "line\nüx|--json|input", "\(query): \(result.errors)")
            }
        }
    }

    @Test("The statuses are those of env, and of the command")
    func run_statuses() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("A", ["a": "b"])
            try await controlled.login.createItem(
                label: "N",
                attributes: ["nul": "1"],
                secret: try Secret([1, 0, 2])
            )
            func run(_ query: String, _ command: String...) async throws -> CommandResult {
                try await controlled.run(["run", "--env", query, "--"] + command, input: [])
            }
            #expect(try await run("A=a=b", "sh", "-c", "exit 42").status == .exited(42))
            #expect(try await run("A=a=b", "/nonexistent").status == .exited(127))
            #expect(try await run("A=a=b", "/etc/passwd").status == .exited(126))
            #expect(try await run("A=none=1", "true").status == .exited(3))
            #expect(try await run("A=nul=1", "true").status == .exited(7))
            #expect(try await run("A", "true").status == .exited(64))
            #expect(try await run("A=a=b").status == .exited(64))
        }
    }

    @Test("The command inherits the signals that the shell has ignored, and no others")
    func run_signalsAreInherited() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("A", ["a": "b"])
            let script = """
                # Only the first 28 signals: those above 31 belong to the C library.
                show() { "$@" sh -c 'grep -E "Sig(Ign|Blk)" /proc/self/status' | sed -E 's/:.*(.{7})$/ \\1/'; }
                compare() { diff <(show) <(show "$1" run --env A=a=b --); }
                compare "$1" && trap '' INT HUP && compare "$1"
                """
            let result = try await Command.run(
                "bash",
                ["-c", script, "-", ImportHome.executable],
                environment: controlled.provider.bus.environment
            )
            #expect(result.succeeded, "\(result.text)\(result.errors)")
        }
    }

    @Test("No secret is in the command line or the environment of keychainctl")
    func set_processShowsNoSecret() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["bank": "1", "keychain:access-control": "devicePasscode"], "old")
            let prompter = try await FakePrompter(on: controlled.provider.bus, [.hang])
            let process = try ChildProcess(
                ImportHome.executable,
                ["edit", "bank=1", "--secret"],
                environment: controlled.provider.bus.environment,
                input: Array("topsecret".utf8)
            )
            _ = try await prompter.questions.first("the dialog")
            for name in ["cmdline", "environ"] {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(process.id)/\(name)"))
                #expect(bytes.range(of: Data("topsecret".utf8)) == nil)
            }
            process.send(SIGINT)
            #expect(try await process.waitForExit() == .exited(5))
        }
    }

    @Test("A credential goes to the unit and name that were configured, and to nobody else")
    func credential_servesWhatIsConfigured() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("A", ["a": "b"], "given")
            let folder = try TemporaryFolder()
            let socket = folder.path("socket")
            let process = try ChildProcess(
                ImportHome.executable,
                ["credential", "--socket", socket, "--serve", "mail.service/password=a=b"],
                environment: controlled.provider.bus.environment
            )
            try await eventually("a socket") { FileManager.default.fileExists(atPath: socket) }
            let script = """
                import os, socket, stat, sys
                assert stat.S_IMODE(os.stat(sys.argv[1]).st_mode) == 0o600
                def ask(name):
                    with socket.socket(socket.AF_UNIX) as client:
                        if name: client.bind(b"\\0" + os.urandom(8).hex().encode() + name)
                        client.connect(sys.argv[1])
                        return client.recv(100)
                assert ask(b"/unit/mail.service/password") == b"given"
                for name in (b"/unit/mail.service/other", b"/unit/web.service/password", b"/unit/mail.service",
                             b"/unit/mail.service/password/x", b"/user/mail.service/password", b"\\xff\\x1b[2J", b""):
                    assert ask(name) == b"", name
                """
            let result = try await Command.python(script, [socket])
            #expect(result.succeeded, "\(result.errors)")
            let second = try await controlled.run("credential", "--socket", socket, "--serve", "m/p=a=b")
            #expect(second.status == .exited(7), "\(second.errors)")
            process.send(SIGINT)
            #expect(try await process.waitForExit() == .exited(5))
            #expect(!FileManager.default.fileExists(atPath: socket))
            #expect(!(try await process.standardError.text()).contains("\u{1B}"))
        }
    }

    @Test("The socket of a killed program is replaced")
    func credential_socketOfAKilledProgram_isReplaced() async throws {
        try await Controlled.with { controlled in
            let folder = try TemporaryFolder()
            let socket = folder.path("socket")
            let script = """
                import socket, sys
                socket.socket(socket.AF_UNIX).bind(sys.argv[1])
                """
            #expect(try await Command.python(script, [socket]).succeeded)
            let process = try ChildProcess(
                ImportHome.executable,
                ["credential", "--socket", socket, "--serve", "mail.service/password=a=b"],
                environment: controlled.provider.bus.environment
            )
            try await eventually("a listener") {
                try await Command.python("import socket, sys; socket.socket(1).connect(sys.argv[1])", [socket])
                    .succeeded
            }
            process.send(SIGINT)
            #expect(try await process.waitForExit() == .exited(5))
        }
    }

    @Test("A path that is taken keeps what is there")
    func credential_takenPath_isLeftAlone() async throws {
        try await Controlled.with { controlled in
            let folder = try TemporaryFolder()
            let file = try folder.write("mine", to: "file")
            let result = try await controlled.run("credential", "--socket", file, "--serve", "m/p=a=b")
            #expect(result.status == .exited(7), "\(result.errors)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        }
    }

    @Test("Each shell has completions", arguments: ["bash", "zsh", "fish"])
    func completions_nameCommands(shell: String) async throws {
        let result = try await Command.run(ImportHome.executable, ["completions", shell])
        #expect(result.succeeded && result.text.contains("protect"))
    }
}
