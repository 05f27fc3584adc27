import Foundation
import Testing

/// Holds `docs/conformance.md` and the tests of this folder against each other.
struct ConformanceTableTests {
    /// A point of the specification, as the table has it.
    private struct Row {
        let point: Int
        let level: String
        let what: String
        let shownBy: String

        /// The tests that the row names, as `Suite.function`.
        var tests: Set<String> {
            Set(shownBy.matches(of: /`(\w+Tests\.\w+)`/).map { String($0.1) })
        }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let table = folder.deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/conformance.md")

    private static func rows() throws -> [Row] {
        try String(contentsOf: table, encoding: .utf8).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, let point = Int(cells[0]) else { return nil }
            return Row(point: point, level: cells[1], what: cells[2], shownBy: cells[3])
        }
    }

    /// The tests of this folder, as `Suite.function`, with the points in their titles.
    private static func tests() throws -> [String: Set<Int>] {
        var tests: [String: Set<Int>] = [:]
        let declaration = /@Test\(\s*"([^"]*)"[\s\S]*?func (\w+)\(/
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix("Tests.swift")
        {
            let file = folder.appendingPathComponent(path)
            let suite = file.deletingPathExtension().lastPathComponent
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: declaration) {
                tests["\(suite).\(match.2)"] = Set(match.1.matches(of: /#(\d+)/).compactMap { Int($0.1) })
            }
        }
        return tests
    }

    @Test
    func table_hasARowForEachPoint() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.point) == Array(1...133))
        for row in rows {
            #expect(["M", "S", "O", "I"].contains(row.level) && !row.what.isEmpty, "#\(row.point)")
        }
    }

    @Test
    func table_everyRow_namesATestOrAReason() throws {
        for row in try Self.rows() {
            let reason = row.shownBy.replacing(/`[^`]*`|<br>/, with: "").trimmingCharacters(in: .whitespaces)
            #expect(!row.tests.isEmpty || reason.count > 20, "#\(row.point)")
        }
    }

    @Test
    func table_everyNamedTest_existsAndHasThePoint() throws {
        let tests = try Self.tests()
        for row in try Self.rows() {
            for test in row.tests {
                #expect(tests[test]?.contains(row.point) == true, "#\(row.point): \(test)")
            }
        }
    }

    @Test
    func tests_withAPoint_areInItsRow() throws {
        let rows = Dictionary(uniqueKeysWithValues: try Self.rows().map { ($0.point, $0.tests) })
        for (test, points) in try Self.tests() {
            for point in points {
                #expect(rows[point]?.contains(test) == true, "#\(point): \(test)")
            }
        }
    }
}
