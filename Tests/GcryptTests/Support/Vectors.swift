import Foundation

/// A case of a vector file.
struct Vector: Sendable, CustomStringConvertible {
    /// A missing or malformed field.
    struct BadField: Error {
        let name: String
    }

    private var fields: [Substring: Substring] = [:]

    /// The name of the case.
    var description: String { fields["name"].map(String.init) ?? "unnamed" }

    /// The cases of a file in `Tests/Vectors`; none if it cannot be read.
    static func cases(of file: String) -> [Vector] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
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
    func text(_ name: String) throws -> String {
        guard let text = fields[Substring(name)] else { throw BadField(name: name) }
        return String(text)
    }

    /// A field as hexadecimal bytes.
    func bytes(_ name: String) throws -> [UInt8] {
        GcryptTests.bytes(hexadecimal: try text(name))
    }

    /// A field as a number.
    func integer(_ name: String) throws -> Int {
        guard let integer = Int(try text(name)) else { throw BadField(name: name) }
        return integer
    }
}
