/// What a process's environment says about its terminal and its language: as it was when the process started, and as it likes.
package struct TerminalEnvironment: Equatable {
    /// How much of an environment is read, in bytes.
    static let longest = 128 << 10

    private static let localeNames: Set<Substring> = ["LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG"]
    private static let valueLimit = 64

    /// The kind of terminal; one that every terminal understands if nothing usable is said.
    package private(set) var type = "vt100"
    /// The variables that tell the language.
    package private(set) var locale: [String: String] = [:]

    /// Reads the content of `/proc/PID/environ`: variables that each end with a zero.
    ///
    /// Values go to a program that looks files up by them, so they are taken only if they look like names.
    package init(_ content: [UInt8]) {
        for bytes in content.split(separator: 0) {
            let line = String(decoding: bytes, as: UTF8.self)
            guard let separator = line.firstIndex(of: "=") else { continue }
            let name = line[..<separator]
            let value = line[line.index(after: separator)...]
            guard TerminalEnvironment.isName(value) else { continue }
            if name == "TERM" {
                type = String(value)
            } else if TerminalEnvironment.localeNames.contains(name) {
                locale[String(name)] = String(value)
            }
        }
    }

    private static func isName(_ value: Substring) -> Bool {
        guard let first = value.utf8.first, value.utf8.count <= valueLimit, isLetterOrDigit(first) else { return false }
        return value.utf8.allSatisfy { isLetterOrDigit($0) || "+-._@".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
