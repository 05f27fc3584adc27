import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Options, messages and exit statuses.
@Suite struct CommandLineTests {
    @Test("--version prints name and number")
    func version_printsNameAndNumber() async throws {
        let result = try await Launch().run("--version")
        #expect(result.succeeded)
        #expect(result.text.wholeMatch(of: /keychaind \d+\.\d+\.\d+\n/) != nil)
    }

    @Test("--help names every option", arguments: ["--help", "-h"])
    func help_namesEveryOption(argument: String) async throws {
        let result = try await Launch().run(argument)
        #expect(result.succeeded)
        for option in [
            "--unlock", "--replace", "--data-dir DIR", "--prompters LIST", "--verbose", "--version", "--help",
        ] {
            #expect(result.text.contains(option))
        }
    }

    @Test(
        "wrong arguments end with status 64 and the usage",
        arguments: [
            ["--no-such-option"], ["argument"], ["--data-dir"], ["--data-dir", ""], ["--data-dir="], ["--unlock=yes"],
            ["--prompters"], ["--prompters", ""], ["--prompters", "gcr,,tty"], ["--prompters=gcr,gcr"],
            ["--prompters=x11"],
        ]
    )
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

    @Test("without a bus, the exit status is 69 with a message")
    func start_withoutBus_ends69AndSaysSo() async throws {
        let result = try await Launch().run()
        #expect(result.status == .exited(69))
        #expect(result.errors.hasPrefix("keychaind: there is no session bus"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test("if the name is taken, the exit status is 69, and the message names the owner")
    func start_whereNameIsTaken_ends69AndNamesTheOwner() async throws {
        let bus = try await PrivateBus()
        let first = try await KeychainDaemon(on: bus)
        let result = try await Launch(on: bus).run()
        #expect(result.status == .exited(69))
        #expect(result.errors.contains("process \(first.child.id), \(KeychainDaemon.executable)"))
        #expect(result.errors.contains("--replace"))
        #expect(try await first.stop() == .success)
    }

    @Test("the path of a program that has the name forges no line")
    func start_whereNameIsTaken_writesThePathInOneLine() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let program = try launch.folder.makeFolder("a\nkeychaind: forged\u{1b}[2J") + "/python3"
        let python = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: python, toPath: program)
        let watch = try await NameWatch(KeychainDaemon.busName, on: bus)
        let owner = try ChildProcess(
            program,
            ["-c", "import dbus, signal; dbus.SessionBus().request_name('\(KeychainDaemon.busName)'); signal.pause()"],
            environment: bus.environment.merging(["PYTHONHOME": "/usr"]) { $1 }
        )
        try await watch.waitForOwner(unless: owner)
        let result = try await launch.run()
        #expect(result.status == .exited(69))
        #expect(result.errors.hasSuffix("\n") && result.errors.count { $0 == "\n" } == 1)
        #expect(result.errors.contains(#"/a\u{a}keychaind: forged\u{1b}[2J/python3"#))
        try await owner.kill()
    }

    @Test("with a file as the data folder, the exit status is 74")
    func start_withFileAsDataFolder_ends74() async throws {
        let bus = try await PrivateBus()
        let launch = try Launch(on: bus)
        let file = try launch.folder.write("not a folder", to: "file")
        let result = try await launch.run("--data-dir", file)
        #expect(result.status == .exited(74))
        #expect(result.errors.hasPrefix("keychaind: "))
        #expect(result.errors.contains(file))
    }

    @Test("with a data folder in use, the exit status is 75, and the other daemon keeps running")
    func start_withDataFolderInUse_ends75AndLeavesTheOther() async throws {
        let (bus, otherBus) = (try await PrivateBus(), try await PrivateBus())
        let (launch, other) = (try Launch(on: bus), try Launch(on: otherBus))
        let data = launch.folder.path("data")
        let first = try await launch.start(on: bus, "--data-dir", data)
        let client = try await SecretServiceProxy(on: bus)
        // Answered once it has locked the folder; it has its name before.
        _ = try await client.collections()
        let result = try await other.run("--data-dir=\(data)")
        #expect(result.status == .exited(75))
        #expect(result.errors.contains(data))
        #expect(result.errors.contains("keychaind (process \(first.id))"))
        try await client.roundTrip()
        #expect(try await first.terminate() == .success)
    }

    @Test("without HOME, the daemon serves from the given folder")
    func start_withoutHome_servesFromTheGivenFolder() async throws {
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
