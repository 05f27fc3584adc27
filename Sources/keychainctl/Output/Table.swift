import KeychaindCommandLine
import KeychaindLanguage

/// Rows as a table on a terminal, and as lines of fields with tabs between them elsewhere.
///
/// The widths are those of the first rows, so that a long list appears at once. Columns that do not fit are left out
/// from the right; the last one is cut.
final class Table {
    private let output: Output
    private let screen: Screen
    private let titles: [String]
    private var widths: [Int] = []
    private var waiting: [[String]] = []

    private static let rowsForWidths = 1000
    private static let gap = 2
    /// A column narrower than this says nothing.
    private static let leastWidth = 6

    init(_ titles: [Text], to output: Output, on screen: Screen = .current) {
        self.titles = titles.map(\.localized)
        self.output = output
        self.screen = screen
    }

    /// Adds a row of texts that need no escaping any more.
    func add(_ row: [String]) throws(CommandFailure) {
        guard case .terminal = screen else { return try output.line(row.joined(separator: "\t")) }
        if widths.isEmpty {
            waiting.append(row)
            if waiting.count >= Table.rowsForWidths { try begin() }
        } else {
            try write(row)
        }
    }

    func finish() throws(CommandFailure) {
        if case .terminal = screen, widths.isEmpty, !waiting.isEmpty { try begin() }
        try output.flush()
    }

    private func begin() throws(CommandFailure) {
        guard case .terminal(let columns, let hasColours) = screen else { return }
        widths = Table.widths(of: [titles] + waiting, in: columns)
        let heading = line(titles)
        try output.line(hasColours ? "\u{1B}[1m\(heading)\u{1B}[m" : heading)
        for row in waiting { try write(row) }
        waiting = []
    }

    private func write(_ row: [String]) throws(CommandFailure) {
        try output.line(line(row))
    }

    private func line(_ row: [String]) -> String {
        var result = ""
        for (index, width) in widths.enumerated() {
            let text = row[index].fitting(width)
            result += index == widths.count - 1 ? text : text.padded(to: width + Table.gap)
        }
        return result
    }

    /// The widths of the columns that are shown.
    static func widths(of rows: [[String]], in columns: Int) -> [Int] {
        guard let first = rows.first else { return [] }
        let wanted = first.indices.map { index in rows.map { $0[index].columns }.max() ?? 0 }
        var widths: [Int] = []
        var used = 0
        for (index, width) in wanted.enumerated() {
            let room = columns - used - (index == 0 ? 0 : gap)
            guard index == 0 || room >= min(width, leastWidth) else { break }
            // Leaves the next column a little, where this one could take everything.
            let isLast = index == wanted.count - 1
            let limit = isLast ? room : max(min(room, leastWidth), room * 2 / 3)
            widths.append(min(width, max(1, limit)))
            used = widths.reduce(0, +) + gap * index
        }
        // What no further column takes goes to those that were cut.
        for index in widths.indices.reversed() {
            let more = max(0, min(wanted[index] - widths[index], columns - used))
            widths[index] += more
            used += more
        }
        return widths
    }
}
