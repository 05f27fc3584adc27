import Foundation
import TestSupport
import Testing

/// What is given along at the start: sockets, passwords on descriptors, credentials.
@Suite struct GivenAlongTests {
    private func isLocked(_ client: SecretServiceProxy) async throws -> Bool {
        try await client.isCollectionLocked(SecretServiceProxy.defaultAlias)
    }

    @Test func start_withACredential_unlocksWithIt() async throws {
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

    @Test func start_withALinkForACredential_readsNothing() async throws {
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

    @Test func unlockFd_readsThePasswordThere() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try await launch.start(on: bus, "--unlock-fd", "0", input: Array("password".utf8))
        #expect(try await isLocked(SecretServiceProxy(on: bus)) == false)
        _ = try await process.terminate()
    }

    @Test(arguments: ["", "x", "1", "2", "-1", "99999999999"]) func unlockFd_withoutADescriptor_isWrongUsage(
        text: String
    ) async throws {
        let result = try await Launch().run("--unlock-fd", text)
        #expect(result.status == .exited(64))
        #expect(result.errors.contains("--unlock-fd"))
    }

    @Test func start_somebodyListensForLogins_isNotNoticedByThem() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let path = try launch.folder.makeFolder("keychaind") + "/pam"
        chmod(launch.folder.path("keychaind"), 0o700)
        let listener = try PacketListener(at: path)
        // Another spelling of the same folder.
        let process = try await launch.start(on: bus, environment: ["XDG_RUNTIME_DIR": launch.folder.path + "/."])
        _ = try await process.standardError.lines.first("the notice") { $0.contains("another process listens") }
        #expect(!listener.hasConnections)
        #expect(try await process.terminate() == .success)
    }

    @Test func start_nobodyListensForLoginsAnyMore_takesThePlace() async throws {
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

    @Test func start_withDescriptorsForAnotherProcess_leavesThemAlone() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let environment: [String: String?] = [
            "LISTEN_PID": "1", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "login:keychain-keys",
        ]
        let process = try await launch.start(on: bus, environment: environment)
        try await SecretServiceProxy(on: bus).roundTrip()
        #expect(try await process.terminate() == .success)
    }
}
