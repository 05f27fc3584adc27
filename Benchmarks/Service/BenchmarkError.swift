/// The reason why a benchmark could not run.
struct BenchmarkError: Error, CustomStringConvertible {
    /// The reason, for a person.
    let reason: String

    /// Creates an error.
    init(reason: String) {
        self.reason = reason
    }

    var description: String { reason }
}
