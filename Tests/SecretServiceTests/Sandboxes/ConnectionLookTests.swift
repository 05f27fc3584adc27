import Dispatch
import KeychaindDBus
import KeychaindDesktop
import KeychaindSecretService
import KeychaindTestSupport
import Synchronization
import Testing

/// What programs see that are looked at while looks fail or never end.
@Suite(.onLoop)
struct ConnectionLookTests {
    private typealias Interface = SecretServiceProxy.Interface

    @Test("A look that fails for a shortage is made again, and the calls of the program wait")
    @BusActor
    func look_shortage_isMadeAgain() async throws {
        let tries = Mutex(0)
        let service = try await ProviderInProcess { (_, _) throws(ExaminationObstacle) in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            // Some for each connection.
            guard number > 12 else { throw .shortage }
            return .none
        }
        #expect(try await collections(of: service.client).isEmpty == false)
        #expect(tries.withLock { $0 } > 12)
    }

    @Test("Looks into a root that never answers hold up no other program")
    @BusActor
    func look_rootNeverAnswers_othersAreLookedAt() async throws {
        let root = Mutex<String?>(nil)
        let (gate, hung) = (DispatchSemaphore(value: 0), Recorder<Void>())
        var limits = ServiceLimits.patient
        limits.lookTime = .seconds(5)
        let service = try await ProviderInProcess(limits: limits) { (_, roots) throws(ExaminationObstacle) in
            guard let name = root.withLock({ $0 }) else { return .none }
            guard case .all = roots else { throw .root(name) }
            if name == "dead" {
                hung.record(())
                gate.wait()
            }
            return .none
        }
        #expect(try await collections(of: service.client).isEmpty == false)
        root.withLock { $0 = "dead" }
        var dead: [SecretServiceProxy] = []
        for _ in 0..<12 { dead.append(try SecretServiceProxy(on: service.bus)) }
        for client in dead { #expect(try await collections(of: client) == []) }
        #expect(hung.count <= 4)
        for name in ["alive", nil] {
            root.withLock { $0 = name }
            #expect(try await collections(of: try SecretServiceProxy(on: service.bus)).isEmpty == false)
        }
        for _ in 0..<4 { gate.signal() }
    }

    @Test("A signal of an item that waits for a look is not sent once a rule hides items", arguments: [false, true])
    @BusActor
    func look_ruleHidesMeanwhile_sendsNoSignal(hides: Bool) async throws {
        let holds = Mutex(false)
        let (gate, looks) = (DispatchSemaphore(value: 0), Recorder<Void>())
        let service = try await ProviderInProcess { (_, _) throws(ExaminationObstacle) in
            guard holds.withLock({ $0 }) else { return .none }
            looks.record(())
            gate.wait()
            return .none
        }
        let client = service.client
        #expect(try await service.unlock([.answer(ProviderInProcess.password)]).isOpen)
        let session = try await client.openPlainSession()
        holds.withLock { $0 = true }
        let listener = try SecretServiceProxy(on: service.bus)
        try await eventually("a look at the listener") { looks.count == 1 }
        _ = try await client.createItem(in: .login, "Bank", ["service": "bank"], session: session)
        if hides {
            service.provider.administratorRules = try LongCheckTests.rules("hide any *", in: TemporaryFolder())
        }
        holds.withLock { $0 = false }
        gate.signal()
        #expect(try await !collections(of: listener).isEmpty)
        #expect(listener.signals.all.contains { $0.member == "ItemCreated" } != hides)
    }

    @Test("Programs that leave while the service starts keep no signals from others")
    @BusActor
    func start_programsLeave_signalsAreBroadcast() async throws {
        let bus = try await PrivateBus()
        let visitors = Task { @BusActor in
            while !Task.isCancelled {
                try bus.connect().close()
                await Task.yield()
            }
        }
        defer { visitors.cancel() }
        let daemon = try await KeychainDaemon(on: bus)
        visitors.cancel()
        try await visitors.value
        let client = try SecretServiceProxy(on: bus)
        let session = try await client.openPlainSession()
        // Has never called, and gets broadcasts alone.
        let listener = try SecretServiceProxy(on: bus)
        try await eventually("a broadcast") {
            _ = try await client.createItem(in: .login, "mine", ["n": "1"], session: session)
            return listener.signals.all.contains { $0.member == "ItemCreated" }
        }
        withExtendedLifetime(daemon) {}
    }

    @BusActor
    private func collections(of client: SecretServiceProxy) async throws -> [ObjectPath] {
        try await client.property(
            "Collections",
            of: SecretServiceProxy.service,
            Interface.service,
            as: [ObjectPath].self
        )
    }
}
