import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Activation by the bus, without a password.
struct ActivationTests {
    /// Starts a bus that can activate the daemon.
    private func makeBus(_ folder: TemporaryFolder) async throws -> PrivateBus {
        try await PrivateBus(
            services: [ActivatableService(name: KeychainDaemon.busName, command: [KeychainDaemon.executable])],
            environment: ["HOME": folder.path, "XDG_DATA_HOME": folder.path, "NOTIFY_SOCKET": nil]
        )
    }

    @Test("#1 #61 #115 the first call starts the daemon; the first unlock makes the default collection")
    func firstCall_startsTheDaemon() async throws {
        let folder = try TemporaryFolder()
        let bus = try await makeBus(folder)
        let client = try await SecretServiceProxy(on: bus)
        #expect(try await client.readAlias("default") == .login)
        #expect(try await client.isCollectionLocked(.defaultAlias))
        let prompter = try await FakePrompter(on: bus, [.answer("chosen")])
        #expect(try await client.complete(client.unlock([.defaultAlias]).prompt).isDismissed == false)
        let session = try await client.openPlainSession()
        let item = try await client.createItem(session: session)
        #expect(try await client.secretText(of: item, session: session) == "secret")
        await prompter.crash()
    }

    @Test("#1 calls during the daemon's start are all answered")
    func manyFirstCalls_areAnswered() async throws {
        let folder = try TemporaryFolder()
        let bus = try await makeBus(folder)
        var clients: [SecretServiceProxy] = []
        for _ in 0..<10 {
            clients.append(try await SecretServiceProxy(on: bus))
        }
        let calls = clients.map { client in
            Task { try await (client.readAlias("default"), client.searchItems([:]), client.openPlainSession()) }
        }
        for call in calls {
            let (alias, hits, session) = try await call.value
            #expect(alias == .login && hits.unlocked.isEmpty && hits.locked.isEmpty && session != .root)
        }
    }

    @Test("calls on a second bus are answered with the process that has the keychains open")
    func callsOnASecondBus_areToldWhoHasTheKeychains() async throws {
        let folder = try TemporaryFolder()
        let (first, second) = (try await makeBus(folder), try await makeBus(folder))
        _ = try await SecretServiceProxy(on: first).collections()
        let holder = try await first.connect().process(of: KeychainDaemon.busName, timeout: nil)
        var clients: [SecretServiceProxy] = []
        for _ in 0..<10 { clients.append(try await SecretServiceProxy(on: second)) }
        let calls = clients.map { client in Task { try await client.searchItems([:]) } }
        for call in calls {
            let error = await #expect(throws: BusError.self) { try await call.value }
            #expect(error?.name == .failed && error?.message.contains("keychaind (process \(holder))") == true)
        }
    }

    @Test("#128 the daemon ends in order when the bus ends")
    func busThatGoes_endsTheDaemon() async throws {
        let bus = try await PrivateBus()
        let daemon = try await KeychainDaemon(on: bus)
        try await bus.kill()
        #expect(try await daemon.child.waitForExit() == .exited(76))
    }
}
