extension Suite {
    /// Adds the reading calls at a collection size.
    func addReadingRows(_ client: SecretClient, size: Int, to report: inout Report) throws {
        let items = "\(size) items"
        try addPingRow("GetSecret plain, \(items)", .atMost(1.3), client, to: &report) {
            try getSecret(client, in: client.plain)
        }
        try addPingRow("GetSecret DH, \(items)", .atMost(1.5), client, to: &report) {
            try getSecret(client, in: client.encrypted)
        }
        try addPingRow("SearchItems, one hit, \(items)", .atMost(1.5), client, to: &report) {
            let number = Int.random(in: client.items.indices)
            let (reply, duration) = try client.bus.timedCall(
                client.searchItems(SampleItem(number: number).account)
            )
            try client.checkHit(number, reply)
            return duration
        }
        try addPingRow("Item GetAll, \(items)", .atMost(1.6), client, to: &report) {
            let number = Int.random(in: client.items.indices)
            let (reply, duration) = try client.bus.timedCall(client.getAll(number))
            try client.checkProperties(number, reply)
            return duration
        }
        try addPingRow("GetSecrets of 100 plain, \(items)", .atMost(10), client, to: &report) {
            let first = Int.random(in: 0...client.items.count - 100)
            let (reply, duration) = try client.bus.timedCall(client.getSecrets(first..<first + 100))
            try client.checkSecrets(first..<first + 100, reply)
            return duration
        }
    }

    /// Adds the processor time that a GetSecrets of 100 takes the provider, and returns it.
    ///
    /// It should not depend on the size of the collection, but for items that are no longer in the processor's caches.
    /// The time of the call also has that of dbus-daemon, which is slower once it has carried large messages.
    ///
    /// - Parameter first: the processor time in the smallest collection.
    func addProcessorTimeRow(
        _ client: SecretClient,
        _ process: ChildProcess,
        size: Int,
        first: Duration?,
        to report: inout Report
    ) throws -> Duration {
        let block = 40
        let times = try (0..<50).map { _ in
            let start = process.usage.processorTime
            for _ in 0..<block {
                let number = Int.random(in: 0...client.items.count - 100)
                _ = try client.bus.call(client.getSecrets(number..<number + 100))
            }
            guard let start, let end = process.usage.processorTime else {
                throw BenchmarkError(reason: "the provider's processor time cannot be read")
            }
            return (end - start) / block
        }
        let time = times.median
        report.add(
            Row(
                "of which the provider's own, \(size) items",
                time / (first ?? time),
                "× that of the first",
                .atMost(1.25),
                figure: "\(time.microseconds.formatted(digits: 1)) µs"
            ),
            isPeer: isPeer
        )
        return time
    }

    /// Adds the reading of many secrets in concurrent calls.
    func addConcurrentRow(_ client: SecretClient, to report: inout Report) throws {
        let floor = Floor(client.bus)
        let count = 400
        let rates = try Interleaving(rounds: 40, block: 1).compare(
            { try floor.echoes(count: count, inFlight: 16) },
            {
                let calls = (0..<count).map { client.getSecret($0, in: client.plain) }
                let (replies, duration) = try client.bus.timedCalls(calls, inFlight: 16)
                for (number, reply) in replies.enumerated() { try client.checkSecret(number, in: client.plain, reply) }
                return duration / count
            }
        )
        report.add(
            Row("GetSecret, 16 in flight", rateOf: rates, to: "the echo's rate", .atLeast(0.75)),
            isPeer: isPeer
        )
    }

    private func getSecret(_ client: SecretClient, in session: ClientSession) throws -> Duration {
        let number = Int.random(in: client.items.indices)
        let (reply, duration) = try client.bus.timedCall(client.getSecret(number, in: session))
        try client.checkSecret(number, in: session, reply)
        return duration
    }

    private func addPingRow(
        _ name: String,
        _ requirement: Requirement,
        _ client: SecretClient,
        to report: inout Report,
        _ operation: () throws -> Duration
    ) throws {
        let times = try withoutActuallyEscaping(operation) { operation in
            try Interleaving.calls.compare(Floor(client.bus).ping, operation)
        }
        report.add(Row(name, times, to: "Ping", requirement), isPeer: isPeer)
    }
}
