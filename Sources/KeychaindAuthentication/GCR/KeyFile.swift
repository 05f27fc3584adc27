/// One group of a GLib key file: `[group]`, then lines `key=value`.
///
/// Skips comments, other groups and surrounding spaces. The last value of a repeated key counts. Values are raw bytes;
/// the exchange uses no escapes.
package struct KeyFile {
    private var values: [[UInt8]: ArraySlice<UInt8>] = [:]

    /// Parses a text; nil if malformed or without the group.
    package init?(parsing text: [UInt8], group: String) {
        let header = "[\(group)]"
        var foundGroup = false
        var isInGroup = false
        for line in text.split(separator: UInt8(ascii: "\n")).map(KeyFile.trim) {
            switch line.first {
            case nil, UInt8(ascii: "#"):
                continue
            case UInt8(ascii: "["):
                guard line.last == UInt8(ascii: "]") else { return nil }
                isInGroup = line.elementsEqual(header.utf8)
                foundGroup = foundGroup || isInGroup
            default:
                guard let separator = line.firstIndex(of: UInt8(ascii: "=")), separator > line.startIndex else {
                    return nil
                }
                if isInGroup {
                    values[Array(KeyFile.trim(line[..<separator]))] = KeyFile.trim(line[(separator + 1)...])
                }
            }
        }
        guard foundGroup else { return nil }
    }

    package subscript(key: String) -> ArraySlice<UInt8>? {
        values[Array(key.utf8)]
    }

    private static func trim(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) {
            line.removeLast()
        }
        return line
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
