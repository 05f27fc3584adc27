import Glibc
import KeychaindDBus

/// Measures whichever provider is on the session bus, and prints lines of JSON: `Benchmarks/Comparison` draws them.
///
/// The floor service must be on the bus, too.
enum Sampling {
    /// Fills the provider with items, and measures calls at each size.
    ///
    /// - Parameter seconds: the time after which no further size is begun, as some providers fill slowly.
    static func sampleSizes(_ sizes: [Int], within seconds: Int) throws {
        let client = try client()
        let end = ContinuousClock.now + .seconds(seconds)
        for size in sizes {
            while client.items.count < size, ContinuousClock.now < end { _ = try client.create() }
            guard client.items.count >= size else { return }
            let floor = Floor(client.bus)
            try sample("GetSecret", at: size, .calls, floor) {
                let number = Int.random(in: client.items.indices)
                let (reply, duration) = try client.bus.timedCall(client.getSecret(number, in: client.plain))
                try client.checkSecret(number, in: client.plain, reply)
                return duration
            }
            try sample("SearchItems", at: size, .fewCalls, floor) {
                let number = Int.random(in: client.items.indices)
                let (reply, duration) = try client.bus.timedCall(client.searchItems(SampleItem(number: number).account))
                try client.checkHit(number, reply)
                return duration
            }
            try sample("CreateItem", at: size, .writes, floor) { try client.create() }
        }
    }

    /// Measures GetSecret calls one after the other, beside whatever else is done to the provider.
    static func sampleLatencies(count: Int, within seconds: Int) throws {
        let client = try client()
        try client.findItems()
        let end = ContinuousClock.now + .seconds(seconds)
        var samples: [Double] = []
        while samples.count < count, ContinuousClock.now < end {
            let number = Int.random(in: client.items.indices)
            let call = client.getSecret(number, in: client.plain)
            samples.append(try client.bus.timedCall(call).duration.microseconds)
        }
        print("{\"latencies\":[\(samples.map { $0.formatted(digits: 1) }.joined(separator: ","))]}")
    }

    /// Counts the first sample items that the provider has with their secrets.
    static func countIntact(of count: Int) throws {
        let client = try client()
        var intact = 0
        for number in 0..<count {
            let hits = try client.bus.call(client.searchItems(SampleItem(number: number).account))
            guard let item = try hits.read([ObjectPath].self, [ObjectPath].self).0.first else { continue }
            let reply = try client.bus.call(client.getSecret(of: item, in: client.plain))
            if (try? client.checkSecret(number, in: client.plain, reply)) != nil { intact += 1 }
        }
        print(intact)
    }

    /// A client of the provider on the session bus, whose default collection it unlocks.
    private static func client() throws -> SecretClient {
        guard let address = getenv("DBUS_SESSION_BUS_ADDRESS").map({ String(cString: $0) }) else {
            throw BenchmarkError(reason: "there is no bus")
        }
        let client = try SecretClient(BusClient(address))
        // KWallet's is locked until somebody asks, and its prompt then asks nobody.
        let prompt = try client.bus.call(client.unlock()).read([ObjectPath].self, ObjectPath.self).1
        if prompt != .root { _ = try client.bus.timedCompletion(of: prompt) }
        return client
    }

    private static func sample(
        _ call: String,
        at size: Int,
        _ interleaving: Interleaving,
        _ floor: Floor,
        _ operation: () throws -> Duration
    ) throws {
        let times = try withoutActuallyEscaping(operation) { try interleaving.compare(floor.ping, $0) }
        let (ping, time) = (times.times[0].microseconds, times.times[1].microseconds)
        print(
            "{\"call\":\"\(call)\",\"size\":\(size),\"microseconds\":\(time.formatted(digits: 1)),"
                + "\"ping\":\(ping.formatted(digits: 1)),\"ratio\":\(times.ratios[1].formatted(digits: 2))}"
        )
        fflush(nil)
    }
}

extension Interleaving {
    fileprivate static let fewCalls = Interleaving(rounds: 10, block: 10)
    fileprivate static let writes = Interleaving(rounds: 5, block: 4)
}

extension SecretClient {
    /// Creates the next item, running the prompt that some providers return; the time of both.
    fileprivate func create() throws -> Duration {
        let (reply, duration) = try bus.timedCall(createItem(items.count))
        let prompt = try reply.read(ObjectPath.self, ObjectPath.self).1
        guard prompt != .root else {
            try addItem(createdBy: reply)
            return duration
        }
        let (completed, further) = try bus.timedCompletion(of: prompt)
        let (isDismissed, result) = try completed.read(Bool.self, Variant.self)
        guard !isDismissed, case .objectPath(let item) = result else {
            throw BenchmarkError(reason: "the prompt of CreateItem was dismissed")
        }
        add(item)
        return duration + further
    }
}
