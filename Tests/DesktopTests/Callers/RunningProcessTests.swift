import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// The inspection of real processes.
struct RunningProcessTests {
    private func inspect(_ process: ChildProcess) -> Caller {
        var credentials = ConnectionCredentials()
        credentials.processID = UInt32(process.id)
        return Caller(uniqueName: ":1.1", insight: ProcessInspector().insight(into: credentials))
    }

    /// Prints a line when it runs, and stays until it is killed.
    private static let script = "echo ready; sleep 1000; :"

    private func start(_ program: String, _ arguments: [String]) async throws -> ChildProcess {
        let process = try ChildProcess(program, arguments)
        _ = try await process.standardOutput.lines.first("a sign of life") { $0 == "ready" }
        return process
    }

    /// Copies in another process, as a child being started here could inherit the open file, which then cannot be run.
    private func copyShell(to path: String) async throws {
        let copy = try await Command.run("install", ["-m", "755", "/bin/sh", path])
        try #require(copy.succeeded, "\(copy.errors)")
    }

    @Test
    func inspect_shellWithAScript_namesBoth() async throws {
        let folder = try TemporaryFolder()
        let script = try folder.write(RunningProcessTests.script, to: "task.sh")
        let process = try await start("/bin/sh", [script])
        let caller = inspect(process)
        let shell = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.id)/exe")
        #expect(caller.description == "“\(shell)” (process \(process.id)), which says that it runs “\(script)”")
        #expect(caller.process?.isHeldByBus == false)
        #expect(try ProcessInspector().isSame(#require(caller.process)))
        try await process.kill()
        #expect(try !ProcessInspector().isSame(#require(caller.process)))
        #expect(inspect(process).process == nil)
    }

    @Test
    func inspect_programFileDeleted_isSaid() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("shell")
        try await copyShell(to: path)
        let process = try await start(path, ["-c", RunningProcessTests.script])
        try FileManager.default.removeItem(atPath: path)
        let caller = inspect(process)
        #expect(caller.process?.program == ProgramFile(path: path, place: .deleted, isProtected: false))
        #expect(caller.description == "“\(path)”, deleted or replaced meanwhile (process \(process.id))")
        #expect(caller.evidence == .ownProgram)
    }

    @Test
    func inspect_libraryOfTheUsers_isNoSystemProgram() async throws {
        let folder = try UsersFolder()
        let library = try await folder.library()
        func evidence(_ environment: [String: String?]) async throws -> CallerEvidence {
            let process = try ChildProcess("/usr/bin/tail", ["-f", "/proc/version"], environment: environment)
            _ = try await process.standardOutput.lines.first("a sign of life")
            return inspect(process).evidence
        }
        #expect(try await evidence([:]) == .systemProgram)
        #expect(try await evidence(["LD_PRELOAD": library]) == .ownProgram)
    }

    @Test
    func inspect_programRunByTheLoader_isAClaim() async throws {
        let loader = try #require(UsersFolder.loader, "there is no dynamic loader where it should be")
        let tail = ["/usr/bin/tail", "-f", "/proc/version"]
        let process = try ChildProcess(loader, ["--argv0", "innocent", "--library-path", "/nonexistent"] + tail)
        _ = try await process.standardOutput.lines.first("a sign of life")
        let caller = inspect(process)
        #expect(caller.evidence == .interpreter)
        #expect(caller.process?.script == "/usr/bin/tail")
    }

    @Test(.enabled(if: ForeignFileSystem.isPossible, "file systems of a process's own need unshare(1) to work"))
    func inspect_otherProgramMountedOverAKnownOne_isNotTakenForIt() async throws {
        let folder = try TemporaryFolder()
        let copy = folder.path("evil")
        try await copyShell(to: copy)
        let disguise = "mount --bind '\(copy)' /usr/bin/true && exec /usr/bin/true -c '\(RunningProcessTests.script)'"
        let process = try await start("unshare", ["--map-root-user", "--mount", "sh", "-c", disguise])
        let caller = inspect(process)
        #expect(caller.evidence == .foreignProgram)
        #expect(caller.process?.program?.place == .foreign)
        #expect(caller.description.hasPrefix("“/usr/bin/true” in a file system of its own"))
    }
}
