import BenchmarkSupport

/// Measures operations in turn, in small blocks, so that what else the machine does hits all of them alike.
struct Interleaving {
    /// How often each operation has its turn, after a first time that warms up.
    let rounds: Int

    /// How many samples an operation gives in a turn.
    let block: Int

    /// Calls of some 100 µs.
    static let calls = Interleaving(rounds: 50, block: 40)

    /// Operations of more than a millisecond.
    static let longCalls = Interleaving(rounds: 25, block: 10)

    /// Compares operations with the first of them; each gives how long it took, less what is not to be counted.
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
    /// The value in the middle; zero if there is none.
    var median: Duration {
        isEmpty ? .zero : sorted()[count / 2]
    }
}

extension [Double] {
    /// The value in the middle; zero if there is none.
    var median: Double {
        isEmpty ? 0 : sorted()[count / 2]
    }
}

extension Duration {
    var microseconds: Double { self / .microseconds(1) }
    var milliseconds: Double { self / .milliseconds(1) }
}
