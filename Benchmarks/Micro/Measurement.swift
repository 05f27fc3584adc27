/// How long an operation takes: the median of batches, because the mean would count what else the machine did.
struct Measurement {
    private static let batches = 21
    private static let batchDuration = Duration.milliseconds(10)

    /// The time of one operation in the median batch.
    let median: Duration

    /// The time of one operation in the fastest batch.
    let fastest: Duration

    /// The time of one operation in the slowest batch.
    let slowest: Duration

    /// The number of operations in a batch.
    let batchSize: Int

    /// Measures an operation, after a batch that warms up.
    init(of operation: () throws -> Void) rethrows {
        let clock = ContinuousClock()
        var size = 1
        while try clock.measure({ for _ in 0..<size { try operation() } }) < Measurement.batchDuration {
            size *= 2
        }
        let times = try (0..<Measurement.batches).map { _ in
            try clock.measure { for _ in 0..<size { try operation() } } / size
        }
        self.init(times, batchSize: size)
    }

    /// Measures an operation that waits, after a batch that warms up.
    init(ofAsync operation: () async throws -> Void) async rethrows {
        let clock = ContinuousClock()
        var size = 1
        while try await clock.measure({ for _ in 0..<size { try await operation() } }) < Measurement.batchDuration {
            size *= 2
        }
        var times: [Duration] = []
        for _ in 0..<Measurement.batches {
            times.append(try await clock.measure { for _ in 0..<size { try await operation() } } / size)
        }
        self.init(times, batchSize: size)
    }

    private init(_ unsorted: [Duration], batchSize: Int) {
        let times = unsorted.sorted()
        median = times[times.count / 2]
        fastest = times[0]
        slowest = times[times.count - 1]
        self.batchSize = batchSize
    }
}

/// Takes a value so that the compiler cannot leave out what made it.
@inline(never) @_optimize(none)
func keep<Value: ~Copyable>(_ value: borrowing Value) {}
