/// Measures operations in turn, in small blocks, so that what else the machine does hits all of them alike.
///
/// Their medians then have a ratio that means something, on a machine where the medians of two runs have not.
struct Interleaving {
    /// How often each operation has its turn, after a first time that warms up.
    let rounds: Int

    /// How many samples an operation gives in a turn.
    let block: Int

    /// Calls of some 100 µs.
    static let calls = Interleaving(rounds: 50, block: 40)

    /// Operations of more than a millisecond.
    static let longCalls = Interleaving(rounds: 25, block: 10)

    /// The medians of what the operations give, in their order: how long one took, less what is not to be counted.
    func medians(_ operations: (() throws -> Duration)...) throws -> [Duration] {
        var samples = operations.map { _ in [Duration]() }
        for round in 0...rounds {
            for (index, operation) in operations.enumerated() {
                for _ in 0..<block {
                    let sample = try operation()
                    if round > 0 { samples[index].append(sample) }
                }
            }
        }
        return samples.map { $0.median }
    }
}

extension [Duration] {
    /// The value in the middle; zero if there is none.
    var median: Duration {
        isEmpty ? .zero : sorted()[count / 2]
    }
}

extension Duration {
    var microseconds: Double { self / .microseconds(1) }
    var milliseconds: Double { self / .milliseconds(1) }
}
