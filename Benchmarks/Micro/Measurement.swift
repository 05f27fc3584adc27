/// The duration of an operation: the median of batches, because a mean would include other work of the machine.
struct Measurement {
    private static let batches = 21
    private static let batchDuration = Duration.milliseconds(10)

    /// The time per operation in the median batch.
    let median: Duration

    /// The time per operation in the fastest batch.
    let fastest: Duration

    /// The time per operation in the slowest batch.
    let slowest: Duration

    /// The operations per batch.
    let batchSize: Int

    /// Measures an operation after a warm-up batch.
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

    /// Measures an asynchronous operation after a warm-up batch.
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

/// Uses a value, so that the compiler cannot remove its computation.
@inline(never) @_optimize(none)
func keep<Value: ~Copyable>(_ value: borrowing Value) {}
