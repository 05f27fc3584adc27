import Glibc

/// All rows of a provider.
struct Suite {
    let stage: Stage
    let provider: Provider
    let isPeer: Bool

    enum Content {
        /// Everything but floods, with these numbers of items.
        case all(sizes: [Int])
        /// Apple's functions.
        case security
        case floods
    }

    /// Measures a provider on a bus of its own.
    static func run(_ provider: Provider, _ content: Content, isPeer: Bool, report: inout Report) throws {
        let stage = try Stage()
        defer { stage.close() }
        report.begin(provider.name)
        let suite = Suite(stage: stage, provider: provider, isPeer: isPeer)
        switch content {
        case .all(let sizes): try suite.run(sizes: sizes, report: &report)
        case .security: try suite.runSecurity(report: &report)
        case .floods: try suite.runFloods(report: &report)
        }
    }

    private func runFloods(report: inout Report) throws {
        let process = try start()
        defer { process.stop() }
        let client = try SecretClient(stage.client)
        for size in [100, 1_000] where size <= provider.capacity {
            try fill(client, to: size)
            try addFloodRows(client, to: &report)
        }
        guard provider.capacity >= 10_000 else { return }
        try fill(client, to: 10_000)
        try addLongCallRows(client, to: &report)
    }

    /// Measures Apple's functions only.
    private func runSecurity(report: inout Report) throws {
        let process = try start()
        let client = try SecretClient(stage.client)
        try fill(client, to: 100)
        try addSecurityRows(client, process, to: &report)
    }

    private func run(sizes: [Int], report: inout Report) throws {
        var process = try start()
        try addMemoryRow("RSS, empty", of: process, .atMost(9), to: &report)
        var client = try SecretClient(stage.client)
        try stage.onOneProcessor(with: process) { try addSessionRows(client, to: &report) }
        var processorTime: Duration?
        for size in sizes where size <= provider.capacity {
            try fill(client, to: size)
            try stage.onOneProcessor(with: process) {
                try addReadingRows(client, size: size, to: &report)
                let time = try addProcessorTimeRow(client, process, size: size, first: processorTime, to: &report)
                processorTime = processorTime ?? time
            }
            if size == 10_000 {
                try addConcurrentRow(client, to: &report)
                try addMemoryRow("RSS, 10,000 items made", of: process, .atMost(18), to: &report)
                process.stop()
                try addStartRows(size: size, item: client.items[size - 1], bound: 40, to: &report)
                process = try start()
                client = try SecretClient(stage.client, items: client.items)
                try addMemoryRow("RSS, 10,000 items loaded", of: process, .atMost(18), to: &report)
                if !isPeer {
                    process = try addRuleRows(client, process, to: &report)
                    client = try SecretClient(stage.client, items: client.items)
                }
            }
            if size == 100_000, !isPeer {
                process.stop()
                try addStartRows(size: size, item: client.items[size - 1], bound: 60, to: &report)
                process = try start()
                client = try SecretClient(stage.client, items: client.items)
                try addMemoryRow("RSS, 100,000 items loaded", of: process, .atMost(45), to: &report)
            }
            try addWritingRows(client, process, size: size, to: &report)
        }
        guard !isPeer else { return }
        try addSecurityRows(client, process, to: &report)
        try stage.onOneProcessor(with: process) {
            try addKeyRows(client, to: &report)
            try addProtectedRows(client, to: &report)
        }
    }

    /// Starts the provider and waits until it owns its name.
    func start() throws -> ChildProcess {
        let process = try provider.start(on: stage)
        try stage.client.waitForOwner(of: SecretName.bus)
        return process
    }

    private func fill(_ client: SecretClient, to size: Int) throws {
        let first = client.items.count
        guard first < size else { return }
        let messages = (first..<size).map(client.createItem)
        for reply in try client.bus.timedCalls(messages, inFlight: isPeer ? 1 : 64).replies {
            try client.addItem(createdBy: reply)
        }
    }
}
