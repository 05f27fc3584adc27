import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// How many signals are sent about many items.
@Suite(.onLoop)
struct SignalLoadTests {
    @Test("A program in a sandbox gets the list of many items less often than once for each")
    @BusActor
    func itemList_ofAConfinedClient_isGathered() async throws {
        var limits = ServiceLimits.patient
        limits.itemsPerNotice = 0
        let service = try await ProviderInProcess(
            limits: limits,
            confinement: .sandbox(.flatpak("org.example.Chat"))
        )
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let client = service.client
        let session = try await client.openPlainSession()
        var items: [ObjectPath] = []
        for number in 0..<40 {
            items.append(try await client.createItem(in: .login, "mine", ["n": "\(number)"], session: session))
        }
        let whole = Variant.objectPaths(items)
        _ = try await client.signals.first("the whole list") { $0.changedProperties?.values["Items"] == whole }
        let lists = client.signals.all.filter { $0.changedProperties?.values["Items"] != nil }
        // One a second.
        #expect(lists.count < 40)
        #expect(client.signals.all.filter { $0.member == "ItemCreated" }.count == 40)
    }

    @Test("The signals of a keychain's items wait for the bus")
    @BusActor
    func lockSignals_busReadsNothing_wait() async throws {
        let (service, items) = try await serviceWithItems(60, label: String(repeating: "x", count: 4096))
        let (client, login) = (service.client, try service.collection(.login))
        login.lock()
        service.bus.pause()
        defer { service.bus.resume() }
        await service.provider.logins.unlock(try ProviderInProcess.bytes(ProviderInProcess.password), from: .root)
        // As many pauses as there are between the signals, and more.
        for _ in 0..<100 { await BusActor.loop.wait(for: .milliseconds(2)) }
        #expect(service.connection.bytesToSend < 128 << 10)
        service.bus.resume()
        let last = try #require(items.last)
        _ = try await client.signals.first("the last item") { signal in
            signal.path == last.rawValue && signal.changedProperties?.values["Locked"] == .boolean(false)
        }
    }

    @Test("The signals of items that lock with the screen come one after the other")
    @BusActor
    func sessionLockSignals_areNotSentAtOnce() async throws {
        let (service, items) = try await serviceWithItems(20, label: "item", accessible: "whenUnlocked")
        let (client, connection) = (service.client, service.connection)
        let before = connection.endOfQueue
        service.provider.setSessionLocked(true)
        #expect(connection.endOfQueue - before < 1024)
        for item in items {
            _ = try await client.signals.first("a locked item") { signal in
                signal.path == item.rawValue && signal.changedProperties?.values["Locked"] == .boolean(true)
            }
        }
    }

    @Test("A program that keeps the queue full holds up no signals of a keychain's items")
    @BusActor
    func lockSignals_queueIsAlwaysFull_arrive() async throws {
        let (service, items) = try await serviceWithItems(4, label: "item")
        let (client, login) = (service.client, try service.collection(.login))
        login.lock()
        let greedy = try service.bus.connect()
        let signal = Message.signal(.service, "org.example.Test", "Large", to: greedy.uniqueName)
        signal.append(ByteArray([UInt8](repeating: 1, count: 1 << 20)))
        let filling = Task.immediate(executorPreference: BusActor.loop) { @BusActor in
            while !Task.isCancelled {
                while service.connection.bytesToSend < 4 << 20 { service.connection.send(signal) }
                await Task.yield()
            }
        }
        defer { filling.cancel() }
        var before = 0
        await service.provider.logins.unlock(try ProviderInProcess.bytes(ProviderInProcess.password), from: .root)
        for item in items {
            _ = try await client.signals.first("an unlocked item") { signal in
                signal.path == item.rawValue && signal.changedProperties?.values["Locked"] == .boolean(false)
            }
            if before == 0 { before = service.connection.sentBytes }
        }
        // One full queue for each of the other items, and some.
        #expect(service.connection.sentBytes - before < 64 << 20)
        greedy.close()
    }

    /// A service that tells of each item by itself, with items in `login`.
    @BusActor
    private func serviceWithItems(
        _ count: Int,
        label: String,
        accessible: String? = nil
    ) async throws -> (ProviderInProcess, items: [ObjectPath]) {
        var limits = ServiceLimits.patient
        limits.itemsPerNotice = 1
        let service = try await ProviderInProcess(limits: limits)
        let (client, login) = (service.client, try service.collection(.login))
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let session = try await client.openPlainSession()
        var items: [ObjectPath] = []
        for number in 0..<count {
            var attributes = ["n": "\(number)"]
            attributes[Reserved.accessible] = accessible
            items.append(try await client.createItem(in: .login, label, attributes, session: session))
        }
        return (service, items)
    }
}
