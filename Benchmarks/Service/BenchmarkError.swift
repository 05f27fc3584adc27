/// The reason why a benchmark could not run.
struct BenchmarkError: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}
