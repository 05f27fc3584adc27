import Glibc

extension Suite {
    /// Adds the cost of reading with a thousand rules, which are about other programs and other items.
    ///
    /// - Parameter process: the running provider; it is stopped.
    /// - Returns: a provider without rules.
    func addRuleRows(_ client: SecretClient, _ process: ChildProcess, to report: inout Report) throws -> ChildProcess {
        process.stop()
        let folder = stage.folder.path + "/rules.d"
        guard mkdir(folder, 0o755) == 0 else { throw BenchmarkError(reason: "\(folder) cannot be made") }
        let actions = ["allow", "notify", "ask-once", "ask-always", "never"]
        let rules = (0..<1000).map { number in
            number % 2 == 0
                ? "\(actions[number % 5]) flatpak:org.example.App\(number) service=bank\(number)"
                : "\(actions[number % 5]) any service=bank\(number)"
        }
        let file = try stage.folder.write(rules.joined(separator: "\n") + "\n", to: "rules.d/1.rules")
        chmod(file, 0o644)
        let ruled = try provider.start(on: stage, with: ["--rules-dir", folder])
        try stage.client.waitForOwner(of: SecretName.bus)
        let reader = try SecretClient(stage.client, items: client.items)
        try stage.onOneProcessor(with: ruled) {
            let times = try Interleaving.calls.compare(Floor(reader.bus).ping) {
                let number = Int.random(in: reader.items.indices)
                let (reply, duration) = try reader.bus.timedCall(reader.getSecret(number, in: reader.plain))
                try reader.checkSecret(number, in: reader.plain, reply)
                return duration
            }
            let name = "GetSecret plain, \(reader.items.count) items, 1,000 rules"
            report.add(Row(name, times, to: "Ping", .atMost(1.25)), isPeer: isPeer)
        }
        ruled.stop()
        return try start()
    }
}
