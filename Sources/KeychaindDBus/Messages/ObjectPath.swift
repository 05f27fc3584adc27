package struct ObjectPath: Hashable, Sendable {
    package let rawValue: String

    /// `/`: in the Secret Service, "no object" or "no prompt needed" (spec point #52).
    package static let root = ObjectPath(unchecked: "/")

    /// Returns nil unless the text is `/`, or elements of `[A-Za-z0-9_]+` with a `/` before each.
    package init?(_ text: String) {
        guard ObjectPath.isValid(text.utf8) else { return nil }
        rawValue = text
    }

    /// Creates a path that is valid by construction; libdbus aborts the process if it is not.
    package init(unchecked text: String) {
        rawValue = text
    }

    private static func isValid(_ bytes: String.UTF8View) -> Bool {
        guard bytes.first == UInt8(ascii: "/") else { return false }
        if bytes.count == 1 { return true }
        var previous: UInt8?
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "/"):
                if previous == byte { return false }
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                break
            default:
                return false
            }
            previous = byte
        }
        return previous != UInt8(ascii: "/")
    }
}

extension ObjectPath: CustomStringConvertible {
    package var description: String { rawValue }
}
