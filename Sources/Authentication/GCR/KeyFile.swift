/// The entries of one group of a key file, as GLib's GKeyFile writes them: `[group]`, then lines `key=value`.
///
/// Comments, other groups and spaces around keys and values are passed over, of a repeated key the last counts. Values stay bytes;
/// the escapes that GLib knows do not occur in what is read here.
package struct KeyFile {
    private var values: [[UInt8]: ArraySlice<UInt8>] = [:]

    /// Reads a text; nil if the group is not in it, or a line is none of what a key file has.
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

    /// The value of a key, if it is there.
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
