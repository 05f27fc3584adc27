import DBus
import TestSupport
import Testing

/// Options, messages and exit statuses.
@Suite struct CommandLineTests {
    @Test func version_printsNameAndNumber() async throws {
        let result = try await Launch().run("--version")
        #expect(result.succeeded)
        #expect(result.text.wholeMatch(of: /keychaind \d+\.\d+\.\d+\n/) != nil)
    }

    @Test(arguments: ["--help", "-h"]) func help_namesEveryOption(argument: String) async throws {
        let result = try await Launch().run(argument)
        #expect(result.succeeded)
        for option in [
            "--unlock", "--replace", "--data-dir DIR", "--prompters LIST", "--polkit", "--verbose", "--version",
            "--help",
        ] {
            #expect(result.text.contains(option))
        }
    }

    @Test(arguments: [
        ["--no-such-option"], ["argument"], ["--data-dir"], ["--data-dir", ""], ["--data-dir="], ["--unlock=yes"],
        ["--prompters"], ["--prompters", ""], ["--prompters", "gcr,,tty"], ["--prompters=gcr,gcr"], ["--prompters=x11"],
    ])
    func arguments_thatAreWrong_end64WithTheUsage(arguments: [String]) async throws {
        let launch = try Launch()
        let result = try await Command.run(
            KeychainDaemon.executable,
            arguments,
            environment: launch.environment
        )
        #expect(result.status == .exited(64))
        #expect(result.errors.hasPrefix("keychaind: "))
        #expect(result.errors.contains("Usage: keychaind"))
        #expect(result.output.isEmpty)
    }

    @Test func start_withoutBus_ends69AndSaysSo() async throws {
        let result = try await Launch().run()
        #expect(result.status == .exited(69))
        #expect(result.errors.hasPrefix("keychaind: there is no session bus"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func start_whereNameIsTaken_ends69AndNamesTheOwner() async throws {
        let bus = try await PrivateBus()
        let first = try await KeychainDaemon(on: bus)
        let result = try await Launch(on: bus).run()
        #expect(result.status == .exited(69))
        #expect(result.errors.contains("process \(first.child.id), \(KeychainDaemon.executable)"))
        #expect(result.errors.contains("--replace"))
        #expect(try await first.stop() == .success)
    }

    @Test func start_withFileAsDataFolder_ends74() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let file = try launch.folder.write("not a folder", to: "file")
        let result = try await launch.run("--data-dir", file)
        #expect(result.status == .exited(74))
        #expect(result.errors.hasPrefix("keychaind: "))
        #expect(result.errors.contains(file))
    }

    @Test func start_withDataFolderInUse_ends75AndLeavesTheOther() async throws {
        let (bus, otherBus) = (try await PrivateBus(), try await PrivateBus())
        let (launch, other) = (try Launch(on: bus), try Launch(on: otherBus))
        let data = launch.folder.path("data")
        let first = try await launch.start(on: bus, "--data-dir", data)
        let client = try await SecretServiceProxy(on: bus)
        try await client.roundTrip()
        let result = try await other.run("--data-dir=\(data)")
        #expect(result.status == .exited(75))
        #expect(result.errors.contains(data))
        try await client.roundTrip()
        #expect(try await first.terminate() == .success)
    }

    @Test func start_withoutHome_servesFromTheGivenFolder() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let process = try await launch.start(
            on: bus,
            "--data-dir",
            launch.folder.path("data"),
            environment: ["HOME": nil, "XDG_DATA_HOME": nil]
        )
        let client = try await SecretServiceProxy(on: bus)
        #expect(try await client.collections().map(\.rawValue).contains("/org/freedesktop/secrets/collection/login"))
        #expect(try await process.terminate() == .success)
    }
}
