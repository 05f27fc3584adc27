import Dispatch
import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Calls that wait until the service is ready.
@Suite(.onLoop)
struct SettlingTests {
    /// Looks at a caller only after a signal.
    private func inspection(after signal: DispatchSemaphore) -> CallerInspector.Inspection {
        { (credentials) throws(ExaminationObstacle) in
            signal.wait()
            signal.signal()
            return try ProcessInspector().inspect(credentials)
        }
    }

    @Test("an invalid call is refused without waiting")
    @BusActor
    func call_thatNobodyCouldAnswer_isRefusedWithoutWaiting() async throws {
        let service = try await ProviderInProcess(opens: false)
        let client = service.client
        for path in [ObjectPath.service, .login, .login.appending("1"), .root] {
            await #expect(throws: BusError(.unknownMethod, "")) {
                try await client.call(path, StandardInterface.properties, "Nothing", "text")
            }
            await #expect(throws: BusError(.invalidArguments, "")) {
                try await client.call(path, StandardInterface.properties, "Get", "text")
            }
            await #expect(throws: BusError(.unknownInterface, "")) {
                try await client.call(path, "org.example.Nothing", "Nothing")
            }
        }
        await #expect(throws: BusError(.unknownMethod, "")) {
            try await client.call(.service, Interface.service, "Nothing", "text")
        }
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await client.call(.service, Interface.service, "SearchItems", "text")
        }
    }

    @Test("the calls of one client are answered in order")
    @BusActor
    func calls_ofOneClient_areAnsweredInTheirOrder() async throws {
        let service = try await ProviderInProcess(opens: false)
        let client = service.client
        let order = Recorder<Int>()
        func search(_ number: Int) {
            BusActor.start {
                let hits = try? await client.searchItems([:])
                #expect(hits != nil)
                order.record(number)
            }
        }
        for number in 0..<10 { search(number) }
        // The calls are sent during the first one and have arrived before the second answer.
        try await client.roundTrip()
        try await client.roundTrip()
        service.provider.vaultIsOpen()
        search(10)
        for number in 0...10 { _ = try await order.first("an answer", after: number) }
        #expect(order.all == Array(0...10))
    }

    @Test("a call from before the start waits for the look at its program, about which no rule is")
    @BusActor
    func call_beforeTheCallerIsKnown_isDecidedForItsProgram() async throws {
        let look = DispatchSemaphore(value: 0)
        let service = try await ProviderInProcess(opens: false, inspection: inspection(after: look))
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let creation = try await login.createItem(
            label: "Bank",
            attributes: ["service": "bank"],
            secret: Secret(bytes: try ProviderInProcess.bytes("secret"), contentType: "text/plain"),
            replacing: false
        )
        let item = ObjectPath(unchecked: "\(ObjectPath.login.rawValue)/\(creation.id)")
        let isLocked = Task { @BusActor in try await service.client.isItemLocked(item) }
        // The call is sent during the first one and has arrived before the second answer.
        try await service.client.roundTrip()
        try await service.client.roundTrip()
        let folder = try service.folder.makeFolder("rules.d")
        chmod(folder, 0o755)
        try Data("never program:/usr/bin/another *".utf8).write(to: URL(fileURLWithPath: folder + "/10.rules"))
        chmod(folder + "/10.rules", 0o644)
        var rules = AdministratorRules()
        rules.read(folder, owner: getuid())
        #expect(rules.mistakes.isEmpty)
        service.provider.vaultIsOpen()
        service.provider.administratorRules = rules
        look.signal()
        #expect(try await isLocked.value == false)
    }

    @Test("a caller that leaves while its call waits does not affect others")
    @BusActor
    func callerThatLeaves_whileItsCallWaits_disturbsNobody() async throws {
        var limits = ServiceLimits.patient
        limits.settlingTime = .seconds(600)
        let service = try await ProviderInProcess(limits: limits, opens: false)
        let waiting = Task { @BusActor in try await service.client.openPlainSession() }
        let gone = try SecretServiceProxy(on: service.bus)
        let lost = Task { @BusActor in try await gone.openPlainSession() }
        try await gone.roundTrip()
        try await gone.roundTrip()
        gone.disconnect()
        await #expect(throws: BusError.self) { try await lost.value }
        service.provider.vaultIsOpen()
        let session = try await waiting.value
        try await service.client.closeSession(session)
    }

    @Test("#48 waiting calls with too much data are LimitsExceeded, without effect on other clients")
    @BusActor
    func waitingCalls_pastTheirBytes_areLimited() async throws {
        var limits = ServiceLimits.patient
        limits.waitingBytes = 50_000
        limits.settlingTime = .seconds(600)
        // Once both are known as one program, their bytes count together.
        let look = DispatchSemaphore(value: 0)
        let service = try await ProviderInProcess(limits: limits, opens: false, inspection: inspection(after: look))
        let label = SecretServiceProxy.collectionProperties(label: String(repeating: "l", count: 40_000))
        let client = service.client
        try await withThrowingTaskGroup(of: ObjectPath.self) { calls in
            for _ in 0..<2 { calls.addTask { try await client.createCollection(label).prompt } }
            // Whichever comes second.
            let refused = await calls.nextResult()
            #expect(throws: BusError.limitsExceeded) { try refused?.get() }
            let other = try SecretServiceProxy(on: service.bus)
            calls.addTask { try await other.createCollection(label).prompt }
            try await other.roundTrip()
            try await other.roundTrip()
            service.provider.vaultIsOpen()
            look.signal()
            for try await prompt in calls { #expect(prompt != .root) }
        }
    }
}
