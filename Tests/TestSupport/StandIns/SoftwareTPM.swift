import Foundation
import Synchronization

/// A software TPM; its state survives a reboot.
package final class SoftwareTPM: Sendable {
    private let folder: TemporaryFolder
    private let process: Mutex<ChildProcess>

    /// Starts the TPM and waits until it is ready.
    package init() async throws {
        folder = try TemporaryFolder()
        process = Mutex(try await SoftwareTPM.start(in: folder))
    }

    /// Its address for tpm2-tss.
    package var transport: String { "swtpm:path=\(folder.path("tpm.sock"))" }

    /// Restarts it, as a reboot does.
    package func reboot() async throws {
        try await remove()
        try await restart()
    }

    /// Restarts it with an empty state, as on another machine.
    package func reset() async throws {
        try await remove()
        try FileManager.default.removeItem(atPath: folder.path("state"))
        try await restart()
    }

    /// Removes it, as from the machine.
    package func remove() async throws {
        try await process.withLock { $0 }.kill()
    }

    /// Lets it answer nothing until ``resume()``.
    package func pause() { process.withLock { $0 }.send(SIGSTOP) }

    package func resume() { process.withLock { $0 }.send(SIGCONT) }

    /// All commands and answers so far, in hexadecimal digits.
    package func traffic() throws -> String {
        let log = try String(contentsOfFile: folder.path("log"), encoding: .utf8)
        let bytes = log.split(separator: "\n").filter { line in
            line.split(separator: " ").allSatisfy { $0.count == 2 && $0.allSatisfy(\.isHexDigit) }
        }
        return String(bytes.joined().filter { $0 != " " })
    }

    private func restart() async throws {
        let started = try await SoftwareTPM.start(in: folder)
        process.withLock { $0 = started }
    }

    /// Runs a program of tpm2-tools, which must succeed.
    package func tool(_ name: String, _ arguments: String..., in directory: TemporaryFolder) async throws {
        let environment = ["TPM2TOOLS_TCTI": transport]
        // There is no resource manager, and only room for three objects.
        _ = try await Command.run("tpm2_flushcontext", ["-t"], environment: environment)
        let paths = arguments.map { argument in
            argument.hasPrefix("@") ? directory.path("\(argument.dropFirst())") : argument
        }
        let result = try await Command.run("tpm2_\(name)", paths, environment: environment)
        guard result.succeeded else { throw DaemonError(reason: "tpm2_\(name) has failed", log: result.errors) }
    }

    /// Runs a program of tpm2-tools, with the objects in the TPM left as they are.
    package func unflushedTool(_ name: String, _ arguments: String...) async throws -> CommandResult {
        try await Command.run("tpm2_\(name)", arguments, environment: ["TPM2TOOLS_TCTI": transport])
    }

    /// Has it refuse protected objects for a while, as after too many wrong passwords.
    package func lockOut() async throws {
        let folder = try TemporaryFolder()
        try await tool("dictionarylockout", "-s", "-n", "1", "-t", "1000", "-l", "1000", in: folder)
        try await tool("createprimary", "-C", "o", "-p", "right", "-c", "@key", in: folder)
        let attempt = try await unflushedTool(
            "create",
            "-C",
            folder.path("key"),
            "-P",
            "wrong",
            "-u",
            folder.path("pub")
        )
        guard !attempt.succeeded else { throw DaemonError(reason: "a wrong password was accepted", log: "") }
        _ = try await unflushedTool("flushcontext", "-t")
    }

    private static func start(in folder: TemporaryFolder) async throws -> ChildProcess {
        _ = try folder.makeFolder("state")
        let socket = folder.path("tpm.sock")
        for name in [socket, socket + ".ctrl"] { try? FileManager.default.removeItem(atPath: name) }
        let process = try ChildProcess(
            "swtpm",
            [
                "socket", "--tpm2", "--tpmstate", "dir=\(folder.path("state"))", "--flags",
                "not-need-init,startup-clear", "--server", "type=unixio,path=\(socket)", "--ctrl",
                "type=unixio,path=\(socket).ctrl", "--log", "file=\(folder.path("log")),level=2",
            ]
        )
        // It does not announce that it is ready; the socket for commands is created last, before it listens.
        do {
            try await eventually("swtpm") { LocalSocket.listens(at: socket) }
        } catch {
            try await process.kill()
            throw DaemonError(reason: "\(error)", log: try await process.standardError.text())
        }
        return process
    }
}
