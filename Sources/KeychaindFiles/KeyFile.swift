/// A file of groups and keys, as of KConfig, GKeyFile and desktop entries.
///
/// Everything but the changed lines stays as it is, byte for byte.
package struct KeyFile: Hashable, Sendable {
    /// A key, and what the switch makes of it.
    package struct Setting: Hashable, Codable, Sendable {
        package let group: String
        package let key: String
        package let value: String
        /// Nil if the key was not there.
        package var was: String?

        package init(_ group: String, _ key: String, _ value: String) {
            self.group = group
            self.key = key
            self.value = value
        }
    }

    private var lines: [[UInt8]]

    package init(_ bytes: [UInt8]) {
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        // A newline ends a line.
        if lines.last == [] { lines.removeLast() }
    }

    package var bytes: [UInt8] {
        lines.flatMap { $0 + [UInt8(ascii: "\n")] }
    }

    /// Whether each line is a header, an entry or a comment, or blank.
    package var isWellFormed: Bool {
        lines.allSatisfy { line in
            let text = KeyFile.trimmed(line)
            if text.isEmpty || text.first == UInt8(ascii: "#") || KeyFile.header(line) != nil { return true }
            guard text.first != UInt8(ascii: "["), let key = KeyFile.entry(line)?.key else { return false }
            return !key.isEmpty
        }
    }

    /// The value of a key; of several, the last one, which readers use.
    package func value(_ group: String, _ key: String) -> String? {
        position(group, key).map { KeyFile.entry(lines[$0])?.value ?? "" }
    }

    package mutating func set(_ setting: Setting) {
        let line = Array("\(setting.key)=\(setting.value)".utf8)
        if let position = position(setting.group, setting.key) {
            lines[position] = line
        } else if let end = end(of: setting.group) {
            lines.insert(line, at: end)
        } else {
            if let last = lines.last, !last.isEmpty { lines.append([]) }
            lines += [Array("[\(setting.group)]".utf8), line]
        }
    }

    /// Undoes a setting, unless the key has got another value since.
    package mutating func undo(_ setting: Setting) {
        guard let position = position(setting.group, setting.key),
            KeyFile.entry(lines[position])?.value == setting.value
        else { return }
        if let was = setting.was {
            lines[position] = Array("\(setting.key)=\(was)".utf8)
        } else {
            lines.remove(at: position)
        }
    }

    private func position(_ group: String, _ key: String) -> Int? {
        var isInside = false
        var found: Int?
        for (index, line) in lines.enumerated() {
            if let header = KeyFile.header(line) {
                isInside = header == group
            } else if isInside, KeyFile.entry(line)?.key == key {
                found = index
            }
        }
        return found
    }

    /// The index after the last line with content of a group; nil if there is no such group.
    private func end(of group: String) -> Int? {
        var isInside = false
        var end: Int?
        for (index, line) in lines.enumerated() {
            if let header = KeyFile.header(line) { isInside = header == group }
            if isInside, !line.isEmpty { end = index + 1 }
        }
        return end
    }

    private static func header(_ line: [UInt8]) -> String? {
        let text = trimmed(line)
        guard text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") else { return nil }
        return String(decoding: text.dropFirst().dropLast(), as: UTF8.self)
    }

    private static func entry(_ line: [UInt8]) -> (key: String, value: String)? {
        guard line.first != UInt8(ascii: "#"), let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = trimmed(Array(line[..<equals]))
        let value = trimmed(Array(line[(equals + 1)...]))
        return (String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d }
        let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isSpace($0) } ?? start
        return start < bytes.endIndex ? bytes[start...end] : []
    }
}
