import Glibc
import KeychaindDBus
import KeychaindGcrypt

extension Suite {
    /// Adds the start times of a provider, without the deliberately slow key derivation.
    ///
    /// - Parameter bound: the most milliseconds to the answer of the first search.
    func addStartRows(size: Int, item: ObjectPath, bound: Double, to report: inout Report) throws {
        let password = try SecureBytes(copying: Array(Provider.password.utf8))
        let salt = try RandomBytes.nonce(16)
        var owned: [Duration] = []
        let times = try Interleaving(rounds: 11, block: 1).compare(
            {
                try ContinuousClock().measure {
                    _ = try Suite.keyDerivation.derive(password: password, salt: salt, count: 32)
                }
            },
            {
                let begin = ContinuousClock.now
                let process = try start()
                owned.append(ContinuousClock.now - begin)
                let search = SecretClient.searchItems(SampleItem(number: size - 1).account)
                let (unlocked, _) = try stage.client.call(search).read([ObjectPath].self, [ObjectPath].self)
                let duration = ContinuousClock.now - begin
                guard unlocked == [item] else { throw BenchmarkError(reason: "an item is missing after a start") }
                process.stop()
                return duration
            }
        )
        let rest = times.rests[1]
        report.add(Row("start to name owned", owned.median.milliseconds, "ms", .atMost(6)), isPeer: isPeer)
        report.add(
            Row(
                "start to first search, \(size / 1000),000 items",
                rest.milliseconds,
                "ms",
                .atMost(bound),
                figure: "\(times.times[1].milliseconds.formatted(digits: 1)) ms"
            ),
            isPeer: isPeer
        )
        report.note(
            "of which \(times.times[0].milliseconds.formatted(digits: 1)) ms derive a key (measured in turn, left out)"
        )
    }

    /// Adds the resident memory of an idle provider.
    func addMemoryRow(
        _ name: String,
        of process: ChildProcess,
        _ requirement: Requirement,
        to report: inout Report
    ) throws {
        usleep(Suite.restTime)
        guard let resident = process.usage.residentKiB else { throw BenchmarkError(reason: "the provider has exited") }
        report.add(Row(name, Double(resident) / 1024, "MB", requirement), isPeer: isPeer)
    }

    /// The cost of keychaind's key derivation.
    private static let keyDerivation = Argon2id(memoryKiB: 64 * 1024, iterations: 3, lanes: 1)
    /// The microseconds until keychaind has released its start-up memory.
    private static let restTime: useconds_t = 1_500_000
}
