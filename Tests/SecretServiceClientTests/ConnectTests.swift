import KeychaindDBus
import KeychaindTestSupport
import SecretServiceClient
import Testing

struct ConnectTests {
    @Test(arguments: ["unix:path=/nonexistent/bus", "nonsense", "", "unix:path=/a\0b"])
    func connect_noBus_isBusUnavailable(address: String) async throws {
        let failure = try await code { try await SecretClient.connect(.init(bus: .address(address))) }
        #expect(failure == .busUnavailable)
    }

    @Test("Without a provider, or with one that cannot start, connecting fails", arguments: [nil, "/bin/false"])
    func connect_noProvider_isProviderUnavailable(command: String?) async throws {
        let services = command.map { [ActivatableService(name: KeychainDaemon.busName, command: [$0])] }
        let bus = try await PrivateBus(services: services ?? [])
        let failure = try await code { try await SecretClient.connect(.init(bus: .address(bus.address))) }
        #expect(failure == .providerUnavailable)
    }

    @Test
    func connect_providerThatDoesNotRun_isStarted() async throws {
        let folder = try TemporaryFolder()
        let bus = try await PrivateBus(
            services: [ActivatableService(name: KeychainDaemon.busName, command: [KeychainDaemon.executable])],
            environment: ["HOME": folder.path, "XDG_DATA_HOME": folder.path]
        )
        let client = try await SecretClient.connect(.init(bus: .address(bus.address)))
        #expect(try await client.defaultCollection()?.isLocked() == true)
    }

    @Test
    func connect_busThatDoesNotAnswer_timesOut() async throws {
        let bus = try await PrivateBus()
        bus.pause()
        defer { bus.resume() }
        var configuration = SecretClient.Configuration(bus: .address(bus.address))
        configuration.connectTimeout = .milliseconds(50)
        let started = configuration
        #expect(try await code { try await SecretClient.connect(started) } == .timedOut)
        try await bus.kill()
    }

    @Test
    func connect_cancelled_endsAtOnce() async throws {
        let bus = try await PrivateBus()
        bus.pause()
        defer { bus.resume() }
        let address = bus.address
        let connecting = Task {
            try await code { try await SecretClient.connect(.init(bus: .address(address))) }
        }
        connecting.cancel()
        #expect(try await connecting.value == .cancelled)
        try await bus.kill()
    }

    @Test(arguments: TestedProvider.allCases)
    func close_laterCalls_areDisconnected(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        client.close()
        #expect(try await code { try await client.collections() } == .disconnected)
    }

    @Test
    func deinit_nobodyHoldsTheClient_leavesTheBus() async throws {
        try await TestedProvider.keychaind.withProvider { provider, _ in
            let watch = Recorder<Void>()
            let observer = try await provider.bus.connect()
            let name = try await ConnectTests.nameOfConnection(
                made: {
                    let client = try await provider.makeClient()
                    _ = try await client.collections()
                },
                on: observer,
                whenGone: { watch.record(()) }
            )
            #expect(name.hasPrefix(":"))
            _ = try await watch.first("the end of the connection")
        }
    }
}

extension ConnectTests {
    /// The unique name of the connection that a closure opens, and a handler for its end.
    @BusActor
    static func nameOfConnection(
        made body: () async throws -> Void,
        on observer: Connection,
        whenGone: @escaping @Sendable () -> Void
    ) async throws -> String {
        let names = Recorder<String>()
        let match = SignalMatch(
            sender: "org.freedesktop.DBus",
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        observer.subscribe(to: match) { message in
            guard let (name, _, owner) = try? message.read(String.self, String.self, String.self) else { return }
            if owner == name { names.record(name) }
            if owner.isEmpty, name == names.all.first { whenGone() }
        }
        _ = try await observer.owner(of: "org.freedesktop.DBus")
        try await body()
        return try await names.first("a new connection")
    }
}
