/// The reason why a benchmark could not run.
package struct BenchmarkError: Error, CustomStringConvertible {
    /// The reason, for a person.
    package let reason: String

    /// Creates an error.
    package init(reason: String) {
        self.reason = reason
    }

    package var description: String { reason }
}
