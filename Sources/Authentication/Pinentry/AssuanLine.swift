/// What kind of line an Assuan server has sent.
package enum AssuanLine: Hashable, Sendable {
    /// The command was done.
    case success
    /// The command has failed, with a code of libgpg-error.
    case failure(code: UInt32)
    /// Data, from ``dataOffset`` to the end of the line, with percent escapes.
    case data
    /// News that is no answer, by its first word.
    case status(String)
    /// A question of the server's.
    case inquiry
    /// A remark.
    case comment

    /// Where in a line with data these begin.
    package static let dataOffset = 2

    /// Reads a line without its end; nil if it is none of the protocol's.
    package init?(_ line: UnsafeRawBufferPointer) {
        let word = line.prefix { $0 != UInt8(ascii: " ") }
        let rest = line.dropFirst(word.count + 1)
        switch String(decoding: word.prefix(AssuanLine.longestWord + 1), as: UTF8.self) {
        case "OK": self = .success
        case "ERR":
            guard let code = UInt32(String(decoding: rest.prefix(while: AssuanLine.isDigit), as: UTF8.self)) else {
                return nil
            }
            self = .failure(code: code)
        case "D" where line.count >= AssuanLine.dataOffset: self = .data
        case "S":
            let keyword = rest.prefix { $0 != UInt8(ascii: " ") }
            self = .status(String(decoding: keyword, as: UTF8.self))
        case "INQUIRE": self = .inquiry
        case _ where word.first == UInt8(ascii: "#"): self = .comment
        default: return nil
        }
    }

    private static let longestWord = "INQUIRE".utf8.count

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
