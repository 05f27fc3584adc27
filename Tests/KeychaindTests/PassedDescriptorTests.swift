import Foundation
import KeychaindTestSupport
import Testing

/// Sockets, password descriptors and credentials passed at the start.
@Suite struct PassedDescriptorTests {
    private func isLocked(_ client: SecretServiceProxy) async throws -> Bool {
        try await client.isCollectionLocked(SecretServiceProxy.defaultAlias)
    }

    @Test("a credential with the password unlocks login")
    func start_withACredential_unlocksWithIt() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        try launch.folder.write("from a credential\n", to: "keychaind.password")
        let environment: [String: String?] = ["CREDENTIALS_DIRECTORY": launch.folder.path]
        var process = try await launch.start(on: bus, environment: environment)
        #expect(try await isLocked(SecretServiceProxy(on: bus)) == false)
        _ = try await process.terminate()
        process = try await launch.start(on: bus, "--unlock", input: Array("from a credential".utf8))
        #expect(try await isLocked(SecretServiceProxy(on: bus)) == false)
        _ = try await process.terminate()
    }

    @Test("a link instead of a credential is not read")
    func start_withALinkForACredential_readsNothing() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let target = try launch.folder.write("elsewhere", to: "elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: launch.folder.path("keychaind.password"),
            withDestinationPath: target
        )
        let process = try await launch.start(on: bus, environment: ["CREDENTIALS_DIRECTORY": launch.folder.path])
        #expect(try await isLocked(SecretServiceProxy(on: bus)))
        _ = try await process.terminate()
    }

    @Test("--unlock-fd reads the password from the descriptor")
    func unlockFd_readsThePasswordThere() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try await launch.start(on: bus, "--unlock-fd", "0", input: Array("password".utf8))
        #expect(try await isLocked(SecretServiceProxy(on: bus)) == false)
        _ = try await process.terminate()
    }

    @Test("--unlock-fd without a descriptor is a usage error", arguments: ["", "x", "1", "2", "-1", "99999999999"])
    func unlockFd_withoutADescriptor_isWrongUsage(
        text: String
    ) async throws {
        let result = try await Launch().run("--unlock-fd", text)
        #expect(result.status == .exited(64))
        #expect(result.errors.contains("--unlock-fd"))
    }

    @Test("a start does not disturb another listener for logins")
    func start_somebodyListensForLogins_isNotNoticedByThem() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let path = try launch.folder.makeFolder("keychaind") + "/pam"
        chmod(launch.folder.path("keychaind"), 0o700)
        let listener = try PacketListener(at: path)
        // Another path of the same folder.
        let process = try await launch.start(on: bus, environment: ["XDG_RUNTIME_DIR": launch.folder.path + "/."])
        _ = try await process.standardError.lines.first("the notice") { $0.contains("another process listens") }
        #expect(!listener.hasConnections)
        #expect(try await process.terminate() == .success)
    }

    @Test("a start replaces a socket for logins without a listener")
    func start_nobodyListensForLoginsAnyMore_takesThePlace() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let path = try launch.folder.makeFolder("keychaind") + "/pam"
        chmod(launch.folder.path("keychaind"), 0o700)
        do { _ = try PacketListener(at: path) }
        let process = try await launch.start(on: bus)
        _ = try await SecretServiceProxy(on: bus).readAlias("default")
        #expect(PacketListener.canConnect(to: path))
        #expect(try await process.terminate() == .success)
    }

    @Test("a socket whose name is like a line of the kernel's list keeps no login out")
    func start_aNameForgesAListener_takesThePlace() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let path = try launch.folder.makeFolder("keychaind") + "/pam"
        chmod(launch.folder.path("keychaind"), 0o700)
        do { _ = try PacketListener(at: path) }
        // Any user can take any abstract name.
        let forged = try NotificationSocket(at: "@\n0: 0 0 00010000 0 0 0 \(path)")
        let process = try await launch.start(on: bus)
        _ = try await SecretServiceProxy(on: bus).readAlias("default")
        #expect(PacketListener.canConnect(to: path))
        #expect(try await process.terminate() == .success)
        withExtendedLifetime(forged) {}
    }

    @Test("descriptors passed to another process are ignored")
    func start_withDescriptorsForAnotherProcess_leavesThemAlone() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let environment: [String: String?] = [
            "LISTEN_PID": "1", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "login:keychain-keys",
        ]
        let process = try await launch.start(on: bus, environment: environment)
        try await SecretServiceProxy(on: bus).roundTrip()
        #expect(try await process.terminate() == .success)
    }

    /// Starts the daemon with a descriptor for kept keys, made by an expression in Python.
    private func start(_ launch: Launch, passing descriptor: String) throws -> ChildProcess {
        let script = """
            import fcntl, os, sys
            def kept_memory():
                keys = os.memfd_create('keys', os.MFD_ALLOW_SEALING)
                os.write(keys, b'no keys')
                # F_ADD_SEALS, and the seals of the size.
                fcntl.fcntl(keys, 1033, 7)
                return keys
            os.dup2(\(descriptor), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1', LISTEN_FDNAMES='keychain-keys')
            os.execv(sys.argv[1], sys.argv[1:])
            """
        return try ChildProcess(
            "/usr/bin/python3",
            ["-c", script, KeychainDaemon.executable],
            environment: launch.environment,
            keeping: launch.folder
        )
    }

    @Test("the log says that kept keys open nothing")
    func start_withUselessKeptKeys_saysThatKeychainsAreLocked() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try start(launch, passing: "kept_memory()")
        _ = try await process.standardError.lines.first("the warning") {
            $0.contains("Keychains are locked after the restart")
        }
        #expect(try await process.terminate() == .success)
    }

    @Test("a file that is passed for kept keys stays as it is")
    func start_withAFileForKeptKeys_doesNotChangeIt() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let file = try launch.folder.write("somebody's", to: "file")
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let process = try start(launch, passing: "os.open('\(file)', os.O_RDWR)")
        try await watch.waitForOwner(unless: process)
        // Answered once the kept keys have been taken.
        _ = try await SecretServiceProxy(on: bus).readAlias("default")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "somebody's")
        #expect(try await process.terminate() == .success)
    }
}

/// A listener for sequential packets that accepts no connection.
final class PacketListener: Sendable {
    private let descriptor: Int32

    /// Starts to listen; the file stays after the end of this object.
    init(at path: String) throws {
        descriptor = PacketListener.makeSocket()
        guard PacketListener.withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Whether a client has connected.
    var hasConnections: Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, 0) > 0
    }

    /// Whether a process listens at the path.
    static func canConnect(to path: String) -> Bool {
        let descriptor = makeSocket()
        defer { close(descriptor) }
        return withAddress(path) { connect(descriptor, $0, $1) } == 0
    }

    private static func makeSocket() -> Int32 {
        socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
