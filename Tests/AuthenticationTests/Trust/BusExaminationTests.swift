import Foundation
import KeychaindAuthentication
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// The examination of real processes.
struct BusExaminationTests {
    private static let program = "/usr/bin/dbus-daemon"
    private static let arguments = ["--session", "--nofork", "--print-address=1"]

    /// The reason after the words that all of them begin with.
    private func objection(to process: ChildProcess) throws -> String? {
        let words = "the session bus is not trusted: "
        guard let objection = BusExamination().trust(inBus: process.id).objection else { return nil }
        try #require(objection.hasPrefix(words))
        return String(objection.dropFirst(words.count))
    }

    private func start(
        _ program: String = BusExaminationTests.program,
        _ arguments: [String] = BusExaminationTests.arguments,
        environment: [String: String?] = [:]
    ) async throws -> ChildProcess {
        let process = try ChildProcess(program, arguments, environment: environment)
        // Until it writes, the child may still run its parent's program.
        _ = try await process.standardOutput.lines.first("a sign of life")
        return process
    }

    @Test
    func process_systemProgram_isTrusted() async throws {
        let process = try await start()
        #expect(BusExamination().trust(inBus: process.id) == .trusted)
    }

    @Test
    func process_programOfTheUsers_isNot() async throws {
        let folder = try UsersFolder()
        let path = try await folder.copy(BusExaminationTests.program, as: "dbus-daemon")
        let process = try await start(path)
        #expect(try objection(to: process) == "“\(path)” is no system program")
    }

    @Test
    func process_libraryOfTheUsers_isNot() async throws {
        let folder = try UsersFolder()
        let library = try await folder.library()
        let process = try await start(environment: ["LD_PRELOAD": library])
        #expect(try objection(to: process) == "it runs code of “\(library)”, which is no system file")
    }

    @Test
    func process_libraryThatIsGone_isNot() async throws {
        let folder = try UsersFolder()
        let library = try await folder.library()
        let process = try await start(environment: ["LD_PRELOAD": library])
        try FileManager.default.removeItem(atPath: library)
        #expect(try objection(to: process) == "it runs code of “\(library)”, which was deleted or replaced")
    }

    @Test
    func process_deletedProgram_isNot() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("dbus-daemon")
        let copy = try await Command.run("install", ["-m", "755", BusExaminationTests.program, path])
        try #require(copy.succeeded)
        let process = try await start(path)
        try FileManager.default.removeItem(atPath: path)
        #expect(try objection(to: process)?.contains("is no system program") == true)
    }

    @Test
    func process_otherProgram_isNot() async throws {
        let process = try await start("/usr/bin/tail", ["-f", "/proc/version"])
        #expect(try objection(to: process) == "“/usr/bin/tail” is no known bus")
    }

    @Test
    func process_runByTheLoader_isNot() async throws {
        let loader = try #require(UsersFolder.loader, "there is no dynamic loader where it should be")
        let command = [BusExaminationTests.program] + BusExaminationTests.arguments
        let process = try await start(loader, command)
        #expect(try objection(to: process)?.hasSuffix("is no known bus") == true)
    }

    @Test
    func process_stopped_isNot() async throws {
        let process = try await start()
        process.send(SIGSTOP)
        try await eventually("the stop") { try objection(to: process) != nil }
        #expect(try objection(to: process) == "it is stopped")
    }

    @Test(.enabled(if: UsersFolder.has("strace"), "needs strace"))
    func process_traced_isNot() async throws {
        let process = try await start()
        let tracer = try ChildProcess("strace", ["-p", "\(process.id)"])
        _ = try await tracer.standardError.lines.first("the tracer") { $0.contains("attached") }
        // The tracer stops it for a moment, perhaps more than once.
        var found: String?
        try await eventually("the end of the stop") {
            found = try objection(to: process)
            return found != "it is stopped"
        }
        #expect(found == "process \(tracer.id) traces it")
    }

    @Test
    func process_ended_isNot() async throws {
        let process = try await start()
        try await process.kill()
        #expect(try objection(to: process) != nil)
    }

    @Test(.enabled(if: ForeignFileSystem.isPossible, "file systems of a process's own need unshare(1) to work"))
    func process_inAUserNamespace_isNot() async throws {
        let process = try ChildProcess("unshare", ["--map-root-user", "sh", "-c", "echo ready; exec sleep 1000"])
        _ = try await process.standardOutput.lines.first("a sign of life") { $0 == "ready" }
        #expect(try objection(to: process)?.contains("user namespace") == true)
    }

    @Test(
        arguments: [
            ("7f00-7f01 r-xp 00000000 00:00 0 \n", "it runs code that is in no file"),
            ("7f00-7f01 r-xp 00000000 00:00 0  [heap]\n", "it runs code that is in no file"),
            ("7f00-7f01 rwxp 00000000 fe:00 1 /usr/bin/sleep\n", "it can change its own code"),
            (
                "7f00-7f01 r-xp 0 00:01 1  /memfd:/usr/lib/x (deleted)\n",
                "it runs code of “/memfd:/usr/lib/x”, which was deleted or replaced"
            ),
            ("7f00-7f01 r-xp 0 fe:00 1  /tmp/\\012x\n", "it runs code of “/tmp/\\012x”, which is no system file"),
            ("7ffc0000-7ffc1000 r-xp 00000000 00:00 0                          [vdso]\n", nil),
        ]
    )
    func code_maps_areJudged(maps: String, reason: String?) throws {
        #expect(try #require(MappedCode(Array(maps.utf8))).objection == reason)
    }

    @Test(arguments: ["", "7f00-7f01 r--p 0 fe:00 1 /usr/bin/sleep\n", "garbage\n"])
    func code_otherText_isNone(maps: String) {
        #expect(MappedCode(Array(maps.utf8)) == nil)
    }
}
