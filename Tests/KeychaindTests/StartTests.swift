import Foundation
import TestSupport
import Testing

/// What the daemon says and makes when it starts.
@Suite struct StartTests {
    @Test(arguments: [false, true]) func start_withNotifySocket_saysReadyAndLaterStopping(isAbstract: Bool) async throws
    {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let name = isAbstract ? "@\(launch.folder.path)/notify" : launch.folder.path("notify")
        let socket = try NotificationSocket(at: name)
        let process = try await launch.start(on: bus, environment: ["NOTIFY_SOCKET": name])
        #expect(socket.next() == "READY=1")
        #expect(try await process.terminate() == .success)
        #expect(socket.next() == "STOPPING=1")
    }

    @Test func start_onFreshAccount_makesFilesForTheirOwnerAlone() async throws {
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

    @Test func start_inOpenFolder_closesIt() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let data = try launch.folder.makeFolder("data")
        chmod(data, 0o755)
        let process = try await launch.start(on: bus, "--data-dir", data)
        // A Ping is answered before the folder is opened; this waits for it.
        _ = try await SecretServiceProxy(on: bus).readAlias("default")
        #expect(FileMode.of(data) == 0o700)
        #expect(try await process.terminate() == .success)
    }

    @Test func process_cannotBeDumpedOrGainPrivileges() async throws {
        let bus = try await PrivateBus()
        let daemon = try await KeychainDaemon(on: bus)
        let status = ProcessStatus(of: daemon.child.id)
        #expect(try status.coreLimits() == ["0", "0"])
        #expect(try status.field("NoNewPrivs") == "1")
        // Files in /proc of a process that cannot be dumped are root's; for root itself that shows nothing.
        #expect(try status.owner() == 0)
        try await daemon.stop()
    }

    @Test func passwordAndSecrets_areNotInArgumentsOrEnvironment() async throws {
        let bus = try await PrivateBus()
        let daemon = try await KeychainDaemon(on: bus, KeychainDaemon.Options(password: "only on standard input"))
        let arguments = try String(contentsOfFile: "/proc/\(daemon.child.id)/cmdline", encoding: .utf8)
        #expect(arguments.split(separator: "\0").dropFirst() == ["--unlock"])
        try await daemon.stop()
        #expect(!(try await daemon.child.standardError.text()).contains("only on standard input"))
    }
}
