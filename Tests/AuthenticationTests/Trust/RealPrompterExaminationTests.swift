import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The examination of real child processes.
struct RealPrompterExaminationTests {
    /// A system program, no interpreter, that writes something and stays.
    private static let program = "/usr/bin/tail"
    private static let arguments = ["-f", "/proc/version"]

    private func objection(to process: ChildProcess) -> String? {
        PrompterExamination().trust(inChild: process.id).objection
    }

    private func start(
        _ program: String = RealPrompterExaminationTests.program,
        _ arguments: [String] = RealPrompterExaminationTests.arguments,
        environment: [String: String?] = [:]
    ) async throws -> ChildProcess {
        let process = try ChildProcess(program, arguments, environment: environment)
        // Until it writes, the child may still run its parent's program.
        _ = try await process.standardOutput.lines.first("a sign of life")
        return process
    }

    @Test
    func child_systemProgram_isTrusted() async throws {
        let process = try await start()
        #expect(PrompterExamination().trust(inChild: process.id) == .trusted)
    }

    @Test
    func child_programOfTheUsers_isNot() async throws {
        let folder = try UsersFolder()
        let path = try await folder.copy(RealPrompterExaminationTests.program, as: "prompter")
        let process = try await start(path)
        #expect(objection(to: process) == "“\(path)” is no system program")
    }

    @Test
    func child_libraryOfTheUsers_isNot() async throws {
        let folder = try UsersFolder()
        let library = try await folder.library()
        let process = try await start(environment: ["LD_PRELOAD": library])
        #expect(objection(to: process) == "it runs code of “\(library)”, which is no system file")
    }

    @Test
    func child_libraryThatIsGone_isNot() async throws {
        let folder = try UsersFolder()
        let library = try await folder.library()
        let process = try await start(environment: ["LD_PRELOAD": library])
        try FileManager.default.removeItem(atPath: library)
        #expect(objection(to: process) == "it runs code of “\(library)”, which was deleted or replaced")
    }

    @Test
    func child_deletedProgram_isNot() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("prompter")
        let copy = try await Command.run("install", ["-m", "755", RealPrompterExaminationTests.program, path])
        try #require(copy.succeeded)
        let process = try await start(path)
        try FileManager.default.removeItem(atPath: path)
        #expect(objection(to: process)?.contains("is no system program") == true)
    }

    @Test
    func child_script_isNot() async throws {
        let folder = try TemporaryFolder()
        let script = try folder.write("echo ready; read line", to: "prompter.sh")
        let process = try ChildProcess("/bin/sh", ["-c", ". '\(script)'; sleep 1000; :"])
        _ = try await process.standardOutput.lines.first("a sign of life") { $0 == "ready" }
        #expect(objection(to: process)?.contains("runs other programs") == true)
    }

    @Test
    func child_runByTheLoader_isNot() async throws {
        let loader = try #require(UsersFolder.loader, "there is no dynamic loader where it should be")
        let command = [RealPrompterExaminationTests.program] + RealPrompterExaminationTests.arguments
        let process = try await start(loader, command)
        #expect(objection(to: process)?.contains("runs other programs") == true)
    }

    @Test
    func child_stopped_isNot() async throws {
        let process = try await start()
        process.send(SIGSTOP)
        try await eventually("the stop") { objection(to: process) != nil }
        #expect(objection(to: process) == "it is stopped")
    }

    @Test(.enabled(if: UsersFolder.has("strace"), "needs strace"))
    func child_traced_isNot() async throws {
        let process = try await start()
        let tracer = try ChildProcess("strace", ["-p", "\(process.id)"])
        _ = try await tracer.standardError.lines.first("the tracer") { $0.contains("attached") }
        // The tracer stops it for a moment, perhaps more than once.
        var found: String?
        try await eventually("the end of the stop") {
            found = objection(to: process)
            return found != "it is stopped"
        }
        #expect(found == "process \(tracer.id) traces it")
    }

    @Test
    func child_ofAnotherProcess_isNot() async throws {
        let shell = try ChildProcess("/bin/sh", ["-c", "sleep 1000 & echo $!; wait"])
        let id = try #require(Int32(try await shell.standardOutput.lines.first("a process id")))
        #expect(PrompterExamination().trust(inChild: id).objection != nil)
    }

    @Test
    func child_ended_isNot() async throws {
        let process = try await start()
        try await process.kill()
        #expect(objection(to: process) != nil)
    }

    @Test(.enabled(if: ForeignFileSystem.isPossible, "file systems of a process's own need unshare(1) to work"))
    func child_inAUserNamespace_isNot() async throws {
        let process = try ChildProcess("unshare", ["--map-root-user", "sh", "-c", "echo ready; exec sleep 1000"])
        _ = try await process.standardOutput.lines.first("a sign of life") { $0 == "ready" }
        #expect(objection(to: process)?.contains("user namespace") == true)
    }
}
