/// A table of measurements, printed row by row.
struct Table {
    private static let nameWidth = 44
    private static let columnWidth = 12

    private let filter: String
    private var medians: [String: Duration] = [:]

    /// Creates a table of the rows whose name contains a text.
    init(filter: String) {
        self.filter = filter
    }

    /// Prints the column names.
    func printHeader() {
        printLine("", "ns/op", "fastest", "slowest", "batch")
    }

    /// Measures an operation and prints its row, unless it is filtered out.
    mutating func row(_ name: String, _ operation: () throws -> Void) rethrows {
        guard filter.isEmpty || name.contains(filter) else { return }
        add(name, try Measurement(of: operation))
    }

    /// Measures an asynchronous operation and prints its row, unless it is filtered out.
    mutating func asyncRow(_ name: String, _ operation: () async throws -> Void) async rethrows {
        guard filter.isEmpty || name.contains(filter) else { return }
        add(name, try await Measurement(ofAsync: operation))
    }

    /// Whether a row with a prefix is wanted, and so its preparation worthwhile.
    func wants(_ prefix: String) -> Bool {
        filter.isEmpty || prefix.contains(filter) || filter.contains(prefix)
    }

    private mutating func add(_ name: String, _ measurement: Measurement) {
        medians[name] = measurement.median
        printLine(
            name,
            Table.nanoseconds(measurement.median),
            Table.nanoseconds(measurement.fastest),
            Table.nanoseconds(measurement.slowest),
            String(measurement.batchSize)
        )
    }

    /// Prints the ratio of a row to the sum of others, if all were measured.
    func ratio(_ name: String, to others: [String]) {
        let parts = others.compactMap { medians[$0] }
        guard let median = medians[name], parts.count == others.count else { return }
        let hundredths = Int((median / parts.reduce(.zero, +) * 100).rounded())
        let digits = String(hundredths % 100)
        let fraction = digits.count == 1 ? "0\(digits)" : digits
        print("  \(name) = \(hundredths / 100).\(fraction) × \(others.joined(separator: " + "))")
    }

    private static func nanoseconds(_ duration: Duration) -> String {
        String(Int((duration / .nanoseconds(1)).rounded()))
    }

    private func printLine(_ name: String, _ columns: String...) {
        let cells = columns.map { String(repeating: " ", count: max(1, Table.columnWidth - $0.count)) + $0 }
        print(name + String(repeating: " ", count: max(0, Table.nameWidth - name.count)) + cells.joined())
    }
}
