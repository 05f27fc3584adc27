extension Suite {
    /// Adds the writing calls at a collection size.
    func addWritingRows(_ client: SecretClient, _ process: ChildProcess, size: Int, to report: inout Report) throws {
        let floor = try SyncFloor(in: stage.folder)
        let (made, written) = (client.items.count, process.usage.writtenBytes)
        let times = try stage.onOneProcessor(with: process) {
            try Interleaving.longCalls.compare(floor.append) { try create(client) }
        }
        report.add(
            Row("CreateItem, durable, \(size) items", times, to: "fdatasync", .atMost(2.5)),
            isPeer: isPeer
        )
        if let before = written, let after = process.usage.writtenBytes {
            let bytes = Double(after - before) / Double(client.items.count - made)
            report.add(Row("  written a call", bytes / 1024, "KiB", .atMost(24)), isPeer: isPeer)
        } else {
            report.note("The bytes written per call are missing: only root can read them from /proc.")
        }
        let rates = try Interleaving(rounds: 20, block: 1).compare(
            { try (0..<16).reduce(.zero) { sum, _ in try sum + create(client) } / 16 },
            { try createAtOnce(client, count: 64, inFlight: 16) }
        )
        report.add(
            Row("CreateItem, 16 in flight, \(size) items", rateOf: rates, to: "one at a time", .atLeast(4)),
            isPeer: isPeer
        )
    }

    private func create(_ client: SecretClient) throws -> Duration {
        let (reply, duration) = try client.bus.timedCall(client.createItem(client.items.count))
        try client.addItem(createdBy: reply)
        return duration
    }

    private func createAtOnce(_ client: SecretClient, count: Int, inFlight: Int) throws -> Duration {
        let first = client.items.count
        let calls = (first..<first + count).map(client.createItem)
        let (replies, duration) = try client.bus.timedCalls(calls, inFlight: inFlight)
        for reply in replies { try client.addItem(createdBy: reply) }
        return duration / count
    }
}
