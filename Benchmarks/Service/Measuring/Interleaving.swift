/// Measures operations in turn, in small blocks, so that other work of the machine affects all alike.
struct Interleaving {
    /// The rounds after a warm-up.
    let rounds: Int

    /// The samples per operation and round.
    let block: Int

    /// For calls of about 100 µs.
    static let calls = Interleaving(rounds: 50, block: 40)

    /// For operations of more than a millisecond.
    static let longCalls = Interleaving(rounds: 25, block: 10)

    /// Compares operations with the first.
    ///
    /// Each returns its time, without the parts that do not count.
    func compare(_ operations: (() throws -> Duration)...) throws -> Comparison {
        var samples = operations.map { _ in [Duration]() }
        var turns: [[Duration]] = []
        for round in 0...rounds {
            var turn: [Duration] = []
            for (index, operation) in operations.enumerated() {
                let block = try (0..<block).map { _ in try operation() }
                if round > 0 { samples[index] += block }
                turn.append(block.median)
            }
            if round > 0 { turns.append(turn) }
        }
        return Comparison(
            times: samples.map(\.median),
            ratios: operations.indices.map { index in turns.map { turn in turn[index] / turn[0] }.median },
            rests: operations.indices.map { index in turns.map { turn in turn[index] - turn[0] }.median }
        )
    }
}

extension [Duration] {
    /// The median; zero if empty.
    var median: Duration {
        isEmpty ? .zero : sorted()[count / 2]
    }
}

extension [Double] {
    /// The median; zero if empty.
    var median: Double {
        isEmpty ? 0 : sorted()[count / 2]
    }
}

extension Duration {
    var microseconds: Double { self / .microseconds(1) }
    var milliseconds: Double { self / .milliseconds(1) }
}
