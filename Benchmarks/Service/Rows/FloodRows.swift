import Glibc
import KeychaindDBus

extension Suite {
    private static let rounds = 3
    private static let callsPerRound = 300
    private static let timePerRound = Duration.seconds(6)

    /// Adds the latency of one program's GetSecret while another keeps 1,024 calls in flight.
    ///
    /// The bound is on the tail: a program that waits for its turn must not wait for all calls of another.
    func addFloodRows(_ client: SecretClient, to report: inout Report) throws {
        for kind in Flood.Kind.allCases where kind != .ping && kind.depth > 1 {
            let floods = [Flood(.ping, at: .provider), Flood(kind, at: .provider), Flood(kind, at: .floor)]
            var samples = floods.map { _ in [Duration]() }
            for _ in 0..<Suite.rounds {
                for (index, flood) in floods.enumerated() { samples[index] += try latencies(of: client, under: flood) }
            }
            let (ping, flooded, floor) = (samples[0], samples[1], samples[2])
            let name = "GetSecret p99, \(client.items.count) items; flood: \(kind.name)"
            let figure = "\(flooded.percentile(50).formatted)/\(flooded.percentile(99).formatted) ms"
            let ratio = flooded.percentile(99) / ping.percentile(99)
            report.add(Row(name, ratio, "× flood of Ping", .atMost(3), figure: figure), isPeer: isPeer)
            report.note("p50/p99 of \(flooded.count); flood of Ping \(ping.summary); of the floor \(floor.summary)")
        }
    }

    /// Adds the latency of one program's GetSecret while another makes calls about all items, one after the other.
    ///
    /// The bus takes long for such messages, too: the floor echoes as many bytes.
    func addLongCallRows(_ client: SecretClient, to report: inout Report) throws {
        for kind in Flood.Kind.allCases where kind.depth == 1 {
            var (long, floor) = ([Duration](), [Duration]())
            for _ in 0..<Suite.rounds {
                long += try latencies(of: client, under: Flood(kind, at: .provider))
                floor += try latencies(of: client, under: Flood(kind, at: .floor))
            }
            let name = "GetSecret p99, \(client.items.count) items; beside: \(kind.name)"
            let ratio = long.percentile(99) / floor.percentile(99)
            report.add(Row(name, ratio, "× beside an echo", .none, figure: "\(long.summary) ms"), isPeer: isPeer)
            report.note("p50/p99 of \(long.count); beside an echo of as many bytes \(floor.summary)")
        }
    }

    private func latencies(of client: SecretClient, under flood: Flood) throws -> [Duration] {
        let process = try flood.start(on: stage)
        defer { process.stop(SIGKILL) }
        var samples: [Duration] = []
        let end = ContinuousClock.now + Suite.timePerRound
        while samples.count < Suite.callsPerRound, ContinuousClock.now < end {
            let number = Int.random(in: client.items.indices)
            let (reply, duration) = try client.bus.timedCall(client.getSecret(number, in: client.plain))
            try client.checkSecret(number, in: client.plain, reply)
            samples.append(duration)
        }
        process.stop(SIGKILL)
        // What the ended program left behind is not part of the next measurement.
        for _ in 0..<20 { _ = try client.bus.timedCall(client.getSecret(0, in: client.plain)) }
        return samples
    }
}

extension [Duration] {
    fileprivate func percentile(_ percent: Int) -> Duration {
        isEmpty ? .zero : sorted()[Swift.min(count - 1, count * percent / 100)]
    }

    fileprivate var summary: String { "\(percentile(50).formatted)/\(percentile(99).formatted)" }
}

extension Duration {
    fileprivate var formatted: String { milliseconds.formatted(digits: 2) }
}
