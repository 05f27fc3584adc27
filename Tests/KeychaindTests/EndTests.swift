import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The end of the daemon: by a signal, a replacement, or the end of the bus.
@Suite struct EndTests {
    /// Files in the data folder that exist only while a store is in use.
    private func openFiles(of daemon: KeychainDaemon) -> [String] {
        FileMode.below(daemon.dataHome).keys.filter { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") }
    }

    @Test("a signal after writes ends the daemon cleanly", arguments: [SIGTERM, SIGINT, SIGHUP])
    func signal_afterWrites_endsCleanlyAndCheckpoints(
        signal: Int32
    ) async throws {
        let service = try await RunningService()
        let session = try await service.client.openPlainSession()
        let item = try await service.client.createItem(secret: "kept", session: session)
        service.daemon.child.send(signal)
        #expect(try await service.daemon.child.waitForExit() == .success)
        #expect(openFiles(of: service.daemon) == [])
        try await service.daemon.start()
        let client = try await service.makeClient()
        #expect(try await client.secretText(of: item, session: client.openPlainSession()) == "kept")
        try await service.daemon.stop()
    }

    @Test("a daemon killed during a prompt ends its pinentry")
    func kill_duringAPrompt_takesThePinentryAlong() async throws {
        let fake = try await FakePinentry(
            flavor: "gtk2",
            // Keeps waiting, and does not notice that its caller has gone.
            answers: #"GETPIN) mkfifo "$0.never"; event asked; read -r never <>"$0.never";;"#
        )
        var options = KeychainDaemon.Options()
        options.arguments = ["--prompters", "pinentry"]
        options.environment = ["PATH": "\(fake.folderPath):/usr/bin:/bin", "DISPLAY": ":7"]
        let service = try await RunningService(options)
        let client = service.client
        let item = try await client.createItem(
            "sealed",
            ["keychain:access-control": "devicePasscode"],
            session: client.openPlainSession()
        )
        try await client.show(client.unlock([item]).prompt)
        try await fake.event("the question") { $0 == "asked" }
        let pinentry = try await fake.processID()
        try await service.daemon.kill()
        let wait = """
            import os, select, sys
            try:
                process = os.pidfd_open(int(sys.argv[1]))
            except ProcessLookupError:
                sys.exit()
            sys.exit(0 if select.select([process], [], [], 60)[0] else 1)
            """
        #expect(try await Command.python(wait, [String(pinentry)]).succeeded)
    }

    @Test("a prompt whose dialog is open at the end is dismissed: libsecret's programs wait for that")
    func signal_duringAPrompt_dismissesIt() async throws {
        var options = KeychainDaemon.Options()
        options.arguments = ["--prompters", "gcr"]
        let service = try await RunningService(options)
        let prompter = try await FakePrompter(on: service.daemon.bus, [])
        let client = service.client
        let item = try await client.createItem(
            "sealed",
            ["keychain:access-control": "devicePasscode"],
            session: client.openPlainSession()
        )
        let prompt = try await client.unlock([item]).prompt
        try await client.show(prompt)
        _ = try await prompter.questions.first("the question")
        service.daemon.child.send(SIGTERM)
        #expect(try await client.completion(of: prompt).isDismissed)
        #expect(try await service.daemon.child.waitForExit() == .success)
        await prompter.crash()
    }

    @Test("a signal during writes keeps every acknowledged change")
    func signal_whileWritesAreInFlight_keepsWhatWasAcknowledged() async throws {
        let service = try await RunningService()
        let (client, session) = (service.client, try await service.client.openPlainSession())
        let acknowledged = Recorder<String>()
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    guard (try? await client.createItem("\(number)", ["n": "\(number)"], session: session)) != nil
                    else {
                        return
                    }
                    acknowledged.record("\(number)")
                }
            }
            _ = try await acknowledged.first("the first reply")
            #expect(try await service.daemon.stop() == .success)
            try await group.waitForAll()
        }
        #expect(openFiles(of: service.daemon) == [])
        try await service.daemon.start()
        let other = try await service.makeClient()
        for number in acknowledged.all {
            #expect(try await other.searchItems(["n": number]).unlocked.count == 1)
        }
        try await service.daemon.stop()
    }

    @Test("a search during the shutdown never has an empty result")
    func signal_whileProgramsSearch_neverTellsThatNothingIsThere() async throws {
        let service = try await RunningService()
        let client = service.client
        let item = try await client.createItem("label", ["a": "b"], session: client.openPlainSession())
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    do throws(BusError) {
                        // Until the daemon refuses or ends; earlier answers must be right.
                        while true {
                            let hits = try await client.searchItems(["a": "b"]).unlocked
                            #expect(hits == [item])
                            let label = try await client.label(of: item)
                            #expect(label == "label")
                        }
                    } catch {
                        #expect(error.name.rawValue != "org.freedesktop.Secret.Error.NoSuchObject")
                    }
                }
            }
            _ = try await client.searchItems([:])
            service.daemon.child.send(SIGTERM)
            try await group.waitForAll()
        }
        #expect(try await service.daemon.child.waitForExit() == .success)
    }

    @Test("the daemon ends cleanly with its bus")
    func bus_thatEnds_endsTheDaemonCleanly() async throws {
        let service = try await RunningService()
        _ = try await service.client.createItem(session: try await service.client.openPlainSession())
        try await service.bus.kill()
        #expect(try await service.daemon.child.waitForExit() == .exited(76))
        #expect(openFiles(of: service.daemon) == [])
    }

    @Test("SIGTERM ends a daemon whose bus takes the connection and never answers", arguments: [SIGTERM, SIGINT])
    func signal_whileTheBusIsSilent_endsTheDaemon(number: Int32) async throws {
        let launch = try Launch()
        let path = launch.folder.path("silent")
        let bus = try ChildProcess("/usr/bin/python3", ["-u", "-c", silentBus, path])
        _ = try await bus.standardOutput.lines.first("the bus") { $0 == "listening" }
        let process = try ChildProcess(
            KeychainDaemon.executable,
            environment: launch.environment.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"]) { $1 }
        )
        _ = try await bus.standardOutput.lines.first("the daemon's first byte") { $0 == "connected" }
        process.send(number)
        #expect(try await process.waitForExit() == .success)
        try await bus.kill()
    }

    /// A bus that takes a connection and never answers.
    private let silentBus = """
        import socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen()
        print("listening")
        connection = listener.accept()[0]
        connection.recv(1)
        print("connected")
        listener.accept()
        """

    @Test("--replace takes over the same data folder")
    func replace_onTheSameData_handsOverToItself() async throws {
        var options = KeychainDaemon.Options()
        options.arguments = ["--replace"]
        let service = try await RunningService(options)
        let session = try await service.client.openPlainSession()
        let item = try await service.client.createItem(secret: "handed over", session: session)
        let first = service.daemon.child
        let successor = try ChildProcess(
            KeychainDaemon.executable,
            ["--replace", "--unlock"],
            environment: service.daemon.environment,
            input: Array("password".utf8)
        )
        #expect(try await first.waitForExit() == .success)
        #expect(try await first.standardError.text().contains("Another provider has taken over"))
        // The earlier client continues; only its session ended with the old daemon (#36, #41).
        let error = await #expect(throws: BusError.self) {
            _ = try await service.client.secret(of: item, session: session)
        }
        #expect(error?.name.rawValue == "org.freedesktop.Secret.Error.NoSession")
        let renewed = try await service.client.openPlainSession()
        #expect(try await service.client.secretText(of: item, session: renewed) == "handed over")
        #expect(try await successor.terminate() == .success)
    }

    @Test("--replace of a provider that does not allow it ends with 69")
    func replace_ofOneThatDoesNotAllowIt_ends69() async throws {
        let service = try await RunningService()
        let result = try await Launch(on: service.bus).run("--replace")
        #expect(result.status == .exited(69))
        try await service.client.roundTrip()
        try await service.daemon.stop()
    }
}
