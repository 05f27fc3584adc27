import SecretServiceClient
import TestSupport
import Testing

struct ConnectTests {
    @Test
    func connect_noBus_isBusUnavailable() async throws {
        for address in ["unix:path=/nonexistent/bus", "nonsense", "", "unix:path=/a\0b"] {
            #expect(
                try await code {
                    try await SecretClient.connect(.init(bus: .address(address)))
                } == .busUnavailable
            )
        }
    }

    @Test
    func connect_noProvider_isProviderUnavailable() async throws {
        let bus = try await PrivateBus()
        #expect(
            try await code {
                try await SecretClient.connect(.init(bus: .address(bus.address)))
            } == .providerUnavailable
        )
    }

    @Test
    func connect_providerThatCannotStart_isProviderUnavailable() async throws {
        let bus = try await PrivateBus(services: [
            ActivatableService(name: KeychainDaemon.busName, command: ["/bin/false"])
        ])
        #expect(
            try await code {
                try await SecretClient.connect(.init(bus: .address(bus.address)))
            } == .providerUnavailable
        )
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
