import Glibc

/// The report table, printed row by row.
struct Report {
    private static let widths = [46, 14, 22, 8, 6]

    private(set) var missed = 0

    /// Starts the table of a provider.
    func begin(_ provider: String) {
        print("")
        Report.printLine([provider, "p50", "value", "must", ""])
    }

    /// Prints a row.
    ///
    /// The rows of another provider have no requirement.
    mutating func add(_ row: Row, isPeer: Bool) {
        if !row.passes && !isPeer { missed += 1 }
        let verdict =
            switch row.requirement {
            case .none: ""
            case _ where isPeer: ""
            default: row.passes ? "pass" : "FAIL"
            }
        Report.printLine([
            row.name, row.figure, row.value.formatted(digits: 2) + " " + row.unit, row.requirement.text, verdict,
        ])
    }

    /// Prints a note about the rows.
    func note(_ text: String) {
        print("  \(text)")
        fflush(nil)
    }

    private static func printLine(_ cells: [String]) {
        let padded = zip(cells, widths).map { cell, width in
            cell + String(repeating: " ", count: max(1, width - cell.count))
        }
        print(padded.joined())
        fflush(nil)
    }
}
