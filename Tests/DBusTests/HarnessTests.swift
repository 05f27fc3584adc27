import Glibc
import KeychaindTestSupport
import Testing

struct RecorderTests {
    @Test
    func first_recordedBefore_returnsAtOnce() async throws {
        let recorder = Recorder<Int>()
        recorder.record(1)
        recorder.record(2)
        #expect(try await recorder.first("a number") == 1)
        #expect(try await recorder.first("a number", after: 1) == 2)
        #expect(try await recorder.first("two") { $0 == 2 } == 2)
    }

    @Test
    func first_recordedLater_waits() async throws {
        let recorder = Recorder<Int>()
        async let three = recorder.first("three") { $0 == 3 }
        async let any = recorder.first("any")
        for number in 0..<5 {
            recorder.record(number)
        }
        #expect(try await three == 3)
        _ = try await any
        #expect(recorder.all == [0, 1, 2, 3, 4])
    }

    @Test
    func first_neverRecorded_timesOut() async {
        let recorder = Recorder<Int>()
        await #expect(throws: WaitError.self) {
            try await recorder.first("nothing", within: .milliseconds(1))
        }
    }

    @Test
    func first_finished_ends() async {
        let recorder = Recorder<Int>()
        recorder.finish()
        await #expect(throws: WaitError.self) { try await recorder.first("nothing") }
    }

    @Test
    func first_cancelled_ends() async {
        let recorder = Recorder<Int>()
        let task = Task { try await recorder.first("nothing") }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test
    func turnstile_limitsConcurrency() async {
        let turnstile = Turnstile(places: 2)
        let inside = Recorder<Int>()
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    await turnstile.enter()
                    inside.record(1)
                    await Task.yield()
                    inside.record(-1)
                    turnstile.leave()
                }
            }
        }
        var count = 0
        for change in inside.all {
            count += change
            #expect((0...2).contains(count))
        }
        #expect(inside.count == 40)
    }
}

/// Child processes of the test harness.
struct ChildProcessTests {
    @Test
    func process_exits_returnsStatusAndOutput() async throws {
        let result = try await Command.run("sh", ["-c", "cat; echo err >&2; exit 3"], input: Array("in\n".utf8))
        #expect(result.status == .exited(3))
        #expect(result.text == "in\n" && result.errors == "err\n")
    }

    @Test
    func process_killed_returnsSignal() async throws {
        let process = try ChildProcess("sleep", ["600"])
        #expect(process.isRunning)
        process.send(SIGTERM)
        #expect(try await process.waitForExit() == .killed(signal: SIGTERM))
        #expect(!process.isRunning)
        process.send(SIGTERM)
    }

    @Test
    func process_output_isReadLineByLine() async throws {
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
    func process_ignoresInput_exits() async throws {
        #expect(try await Command.run("true", input: [UInt8](repeating: 0, count: 1 << 20)).succeeded)
    }

    @Test
    func process_released_isKilledWithDescendants() async throws {
        var process: ChildProcess? = try ChildProcess("sh", ["-c", "sleep 600 & echo started; wait"])
        let output = try #require(process?.standardOutput)
        _ = try await output.lines.first("the grandchild")
        let id = try #require(process?.id)
        process = nil
        #expect(kill(id, 0) == -1 && errno == ESRCH)
        // The grandchild keeps the output open while it lives.
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
