import Glibc
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Who answers on a socket, which another process may have opened.
@Suite(.onLoop)
struct SenderTests {
    @Test
    @BusActor
    func senderProcess_ofASocketThatAnotherProcessOpened_isTheBus() async throws {
        let folder = try TemporaryFolder()
        // As a service manager does: it listens, and starts the bus with the socket.
        let manager = """
            import os, socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen()
            bus = os.fork()
            if bus == 0:
                os.dup2(listener.fileno(), 3)
                os.set_inheritable(3, True)
                os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
                os.execvp("dbus-daemon", ["dbus-daemon", "--session", "--nofork", "--address=systemd:"])
            print(bus, flush=True)
            os.waitpid(bus, 0)
            """
        let path = folder.path("bus")
        let process = try ChildProcess("python3", ["-c", manager, path])
        let bus = try #require(Int32(try await process.standardOutput.lines.first("the bus")))
        defer { kill(bus, SIGTERM) }
        let connection = try await Connection.open("unix:path=\(path)", timeout: Patience.limit)
        defer { connection.close() }
        #expect(await connection.senderProcess() == bus)
        // libdbus goes on to read.
        #expect(try await connection.owner(of: connection.uniqueName) == connection.uniqueName)
        #expect(await connection.senderProcess() == bus)
    }
}
