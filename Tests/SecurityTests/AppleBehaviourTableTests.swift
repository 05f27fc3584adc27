import Foundation
import Testing

/// Compares `docs/apple-behaviours.md` with the tests of Apple's API.
struct AppleBehaviourTableTests {
    /// A behaviour of Apple's API: a row of the table.
    private struct Row {
        let number: Int
        let what: String
        /// The tests in the row, as `Suite.function`.
        let tests: Set<String>
    }

    private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func rows() throws -> [Row] {
        let page = project.appendingPathComponent("docs/apple-behaviours.md")
        return try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, let number = Int(cells[0].dropFirst()) else { return nil }
            let tests = cells[2].matches(of: /`(\w+Tests\.\w+)`/).map { String($0.1) }
            return Row(number: number, what: cells[1], tests: Set(tests))
        }
    }

    /// The tests of Apple's API, as `Suite.function`, with the numbers in their titles.
    private static func tests() throws -> [String: Set<Int>] {
        var tests: [String: Set<Int>] = [:]
        let declaration = /@Test\(\s*"((?:A\d+ )+)[^"]*"[\s\S]*?func (\w+)\(/
        for folder in ["Tests/SecurityTests", "Tests/LocalAuthenticationTests"] {
            let folder = project.appendingPathComponent(folder)
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where path.hasSuffix("Tests.swift") {
                let file = folder.appendingPathComponent(path)
                let suite = file.deletingPathExtension().lastPathComponent
                for match in try String(contentsOf: file, encoding: .utf8).matches(of: declaration) {
                    tests["\(suite).\(match.2)"] = Set(match.1.matches(of: /A(\d+)/).compactMap { Int($0.1) })
                }
            }
        }
        return tests
    }

    @Test
    func table_hasARowForEachBehaviour() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.number) == Array(1...45))
        #expect(rows.allSatisfy { !$0.what.isEmpty && !$0.tests.isEmpty })
    }

    @Test
    func table_everyNamedTest_existsAndHasTheNumber() throws {
        let tests = try Self.tests()
        for row in try Self.rows() {
            for test in row.tests {
                #expect(tests[test]?.contains(row.number) == true, "A\(row.number): \(test)")
            }
        }
    }

    @Test
    func tests_withANumber_areInItsRow() throws {
        let rows = Dictionary(uniqueKeysWithValues: try Self.rows().map { ($0.number, $0.tests) })
        for (test, numbers) in try Self.tests() {
            for number in numbers {
                #expect(rows[number]?.contains(test) == true, "A\(number): \(test)")
            }
        }
    }
}
