import FoundationEssentials

/// A section of a settings file of a Qt program.
package struct QtSettings: Sendable {
    private var values: [String: String] = [:]

    private static let largest = 1 << 20

    /// Empty if the file cannot be read.
    init(path: String, section: String = "General") {
        guard let data = FileManager.default.contents(atPath: path), data.count <= QtSettings.largest else {
            self.init(text: "")
            return
        }
        self.init(text: String(decoding: data, as: UTF8.self), section: section)
    }

    package init(text: String, section: String = "General") {
        // What stands before the first section belongs to none.
        var isSection = section == "General"
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                isSection = line == "[\(section)]"
            } else if isSection, let separator = line.firstIndex(of: "=") {
                values[String(line[..<separator])] = String(line[line.index(after: separator)...])
            }
        }
    }

    subscript(key: String) -> String? { values[key] }

    /// The strings of a list, which is separated by commas; quoted ones may contain commas.
    package func list(_ key: String) -> [String] {
        guard let value = values[key], !value.hasPrefix("@") else { return [] }
        var list: [String] = []
        var text: [UInt8] = []
        var isQuoted = false
        var wasQuoted = false
        func finish() {
            let string = String(decoding: text, as: UTF8.self)
            let trimmed = wasQuoted ? string : string.trimmingSpaces
            if !trimmed.isEmpty { list.append(trimmed) }
            text = []
            wasQuoted = false
        }
        var rest = Substring(value).unicodeScalars
        while let character = rest.popFirst() {
            switch character {
            case "\"":
                if !isQuoted { text = [] }
                isQuoted.toggle()
                wasQuoted = true
            case ",": isQuoted ? text.append(0x2C) : finish()
            case "\\": text += QtSettings.escape(&rest)
            default:
                // Spaces around quotes are not part of a value.
                if wasQuoted, !isQuoted { continue }
                text += Array(String(character).utf8)
            }
        }
        finish()
        return list
    }

    /// The character after a backslash, in UTF-8.
    private static func escape(_ rest: inout Substring.UnicodeScalarView) -> [UInt8] {
        guard let character = rest.popFirst() else { return [] }
        guard character == "x" else { return Array(String(character).utf8) }
        var number: UInt32 = 0
        while let digit = rest.first.flatMap({ Character($0).hexDigitValue }), number < 0x1000 {
            number = number << 4 | UInt32(digit)
            rest.removeFirst()
        }
        // A zero would end a path early.
        return UnicodeScalar(number).map { $0.value == 0 ? [] : Array(String($0).utf8) } ?? []
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
