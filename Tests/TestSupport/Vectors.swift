import Foundation

/// A case of a vector file.
package struct Vector: Sendable, CustomStringConvertible {
    /// A missing or malformed field.
    package struct BadField: Error {
        let name: String
    }

    private var fields: [Substring: Substring] = [:]

    /// The name of the case.
    package var description: String { fields["name"].map(String.init) ?? "unnamed" }

    /// The cases of a file in `Tests/Vectors`; none if it cannot be read.
    package static func cases(of file: String) -> [Vector] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        guard let text = try? String(contentsOf: tests.appending(path: "Vectors/\(file).txt"), encoding: .utf8) else {
            return []
        }
        var cases: [Vector] = []
        var current = Vector()
        for line in (text + "\n").split(separator: "\n", omittingEmptySubsequences: false) where !line.hasPrefix("#") {
            let parts = line.split(separator: " = ", maxSplits: 1)
            if let name = parts.first {
                current.fields[name.hasSuffix(" =") ? name.dropLast(2) : name] = parts.dropFirst().first ?? ""
            } else if !current.fields.isEmpty {
                cases.append(current)
                current = Vector()
            }
        }
        return cases
    }

    /// A field as text.
    package func text(_ name: String) throws -> String {
        guard let text = fields[Substring(name)] else { throw BadField(name: name) }
        return String(text)
    }

    /// A field as hexadecimal bytes.
    package func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](hexadecimal: try text(name))
    }

    /// A field as a number.
    package func integer(_ name: String) throws -> Int {
        guard let integer = Int(try text(name)) else { throw BadField(name: name) }
        return integer
    }
}

extension Array where Element == UInt8 {
    /// Parses hexadecimal bytes.
    package init(hexadecimal text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
