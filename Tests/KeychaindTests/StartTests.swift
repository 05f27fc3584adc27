import Foundation
import KeychaindTestSupport
import Testing

/// Messages and files of the daemon's start.
@Suite struct StartTests {
    @Test("the daemon notifies the service manager of readiness and end", arguments: [false, true])
    func start_withNotifySocket_saysReadyAndLaterStopping(isAbstract: Bool) async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let name = isAbstract ? "@\(launch.folder.path)/notify" : launch.folder.path("notify")
        let socket = try NotificationSocket(at: name)
        let process = try await launch.start(on: bus, environment: ["NOTIFY_SOCKET": name])
        #expect(socket.next() == "READY=1")
        #expect(try await process.terminate() == .success)
        #expect(socket.next() == "STOPPING=1")
    }

    @Test("on a fresh account, only the owner can read the new files")
    func start_onFreshAccount_makesFilesForTheirOwnerAlone() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try await launch.start(on: bus, "--unlock", input: Array("password".utf8))
        let client = try await SecretServiceProxy(on: bus)
        _ = try await client.createItem(session: try await client.openPlainSession())
        #expect(FileMode.of(launch.dataFolder) == 0o700)
        let modes = FileMode.below(launch.dataFolder)
        #expect(modes["login.keychain"] == 0o600)
        for (name, mode) in modes {
            #expect(mode & 0o077 == 0, "\(name)")
        }
        #expect(try await process.terminate() == .success)
    }

    @Test("a start makes an open data folder private")
    func start_inOpenFolder_closesIt() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let data = try launch.folder.makeFolder("data")
        chmod(data, 0o755)
        let process = try await launch.start(on: bus, "--data-dir", data)
        // A Ping is answered before the folder is opened; this call waits for it.
        _ = try await SecretServiceProxy(on: bus).readAlias("default")
        #expect(FileMode.of(data) == 0o700)
        #expect(try await process.terminate() == .success)
    }

    @Test("the process is not dumpable and cannot gain privileges")
    func process_cannotBeDumpedOrGainPrivileges() async throws {
        let bus = try await PrivateBus()
        let daemon = try await KeychainDaemon(on: bus)
        let status = ProcessStatus(of: daemon.child.id)
        #expect(try status.coreLimits() == ["0", "0"])
        #expect(try status.field("NoNewPrivs") == "1")
        // Files in /proc of a process that is not dumpable belong to root, which says nothing about root's own process.
        #expect(try status.owner() == 0)
        try await daemon.stop()
    }

    @Test("arguments and environment contain no password or secret")
    func passwordAndSecrets_areNotInArgumentsOrEnvironment() async throws {
        let bus = try await PrivateBus()
        let daemon = try await KeychainDaemon(on: bus, KeychainDaemon.Options(password: "only on standard input"))
        let arguments = try String(contentsOfFile: "/proc/\(daemon.child.id)/cmdline", encoding: .utf8)
        #expect(arguments.split(separator: "\0").dropFirst() == ["--unlock"])
        try await daemon.stop()
        #expect(!(try await daemon.child.standardError.text()).contains("only on standard input"))
    }
}

/// A service manager's notification socket.
final class NotificationSocket: Sendable {
    private let descriptor: Int32

    /// Listens at a path, or at an abstract address after an @.
    init(at name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: Int(Patience.limit.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: name.utf8)
            if name.hasPrefix("@") { path[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit {
        close(descriptor)
    }

    /// Returns the next datagram; nil if none arrives within ``Patience/limit``.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
