import Glibc
import TestSupport
import Testing

/// The harness itself, which all other tests rely on.
struct ChildProcessTests {
    @Test
    func process_ends_givesStatusAndOutput() async throws {
        let result = try await Command.run("sh", ["-c", "cat; echo err >&2; exit 3"], input: Array("in\n".utf8))
        #expect(result.status == .exited(3))
        #expect(result.text == "in\n" && result.errors == "err\n")
    }

    @Test
    func process_killed_tellsTheSignal() async throws {
        let process = try ChildProcess("sleep", ["600"])
        #expect(process.isRunning)
        process.send(SIGTERM)
        #expect(try await process.waitForExit() == .killed(signal: SIGTERM))
        #expect(!process.isRunning)
        process.send(SIGTERM)
    }

    @Test
    func process_linesComeOneByOne() async throws {
        let process = try ChildProcess("sh", ["-c", "echo one; echo two; printf three; sleep 600"])
        _ = try await process.standardOutput.lines.first("two") { $0 == "two" }
        #expect(process.standardOutput.lines.all == ["one", "two"])
    }

    @Test
    func process_largeInput_arrivesWhole() async throws {
        let input = [UInt8](repeating: 0x61, count: 1 << 20)
        let result = try await Command.run("wc", ["-c"], input: input)
        #expect(result.text.contains("\(1 << 20)"))
    }

    @Test
    func process_thatDoesNotRead_isNoProblem() async throws {
        #expect(try await Command.run("true", input: [UInt8](repeating: 0, count: 1 << 20)).succeeded)
    }

    @Test
    func process_letGo_isEndedWithAllItHasStarted() async throws {
        var process: ChildProcess? = try ChildProcess("sh", ["-c", "sleep 600 & echo started; wait"])
        let output = try #require(process?.standardOutput)
        _ = try await output.lines.first("the grandchild")
        let id = try #require(process?.id)
        process = nil
        #expect(kill(id, 0) == -1 && errno == ESRCH)
        // The grandchild has the output open as long as it lives.
        #expect(try await output.text() == "started\n")
    }

    @Test
    func process_notFound_throws() {
        #expect(throws: (any Error).self) { _ = try ChildProcess("/nonexistent/program") }
    }

    @Test
    func process_environment_isChanged() async throws {
        let result = try await Command.run(
            "sh",
            ["-c", "echo ${ADDED-none} ${HOME-none}"],
            environment: ["ADDED": "added", "HOME": nil]
        )
        #expect(result.text == "added none\n")
    }
}
