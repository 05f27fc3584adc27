import Glibc
package import KeychaindGcrypt

/// A line to an Assuan server, such as `SETPROMPT Password:`.
package struct AssuanCommand: Hashable, Sendable {
    /// The limit in bytes, without the line end.
    package static let lineLimit = 1000

    package let bytes: [UInt8]

    /// Creates a command; truncates an argument that is too long.
    package init(_ name: StaticString, _ argument: String? = nil) {
        var line = name.withUTF8Buffer { Array($0) }
        if let argument {
            line.append(UInt8(ascii: " "))
            line += PercentEncoding.encode(argument, limit: AssuanCommand.lineLimit - line.count)
        }
        bytes = line + [UInt8(ascii: "\n")]
    }
}

/// A line from an Assuan server.
package enum AssuanLine: Hashable, Sendable {
    case success
    /// A failure with a code of libgpg-error.
    case failure(code: UInt32)
    /// Data with percent escapes, from ``dataOffset`` on.
    case data
    /// Status information; the value is its keyword.
    case status(String)
    /// A question of the server.
    case inquiry
    case comment

    package static let dataOffset = 2

    /// Parses a line without its end; nil if it is not Assuan.
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

/// The input from an Assuan server, in locked memory and wiped as it is read.
///
/// Any line may contain a password.
package struct AssuanInput: ~Copyable {
    package enum Filling: Hashable, Sendable {
        case more
        /// No input is available yet.
        case nothing
        case end
        /// The line exceeds ``AssuanCommand/lineLimit``.
        case overflow
    }

    private var buffer: SecureBytes
    private var count = 0

    /// Creates a buffer for one line with its end, CR LF.
    package init() throws(GcryptError) {
        buffer = try SecureBytes(count: AssuanCommand.lineLimit + 2, in: .locked)
    }

    /// Reads from a non-blocking descriptor.
    package mutating func fill(from descriptor: Int32) -> Filling {
        let start = count
        guard start < buffer.count else { return .overflow }
        let result = buffer.withUnsafeMutableBytes { buffer in
            read(descriptor, buffer.baseAddress! + start, buffer.count - start)
        }
        if result > 0 {
            count += result
            return .more
        }
        // A socket closed by its peer with unread data reports an error instead of the end.
        return result < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
    }

    /// Passes the first complete line, without its end, to the body, then wipes it.
    package mutating func takeLine<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let used = count
        let taken: (result: Result, count: Int)? = buffer.withUnsafeMutableBytes { buffer in
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<used])
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let hasReturn = end > 0 && bytes[end - 1] == UInt8(ascii: "\r")
            let result = body(UnsafeRawBufferPointer(rebasing: bytes[..<(hasReturn ? end - 1 : end)]))
            let rest = used - (end + 1)
            memmove(buffer.baseAddress!, buffer.baseAddress! + end + 1, rest)
            explicit_bzero(buffer.baseAddress! + rest, used - rest)
            return (result, end + 1)
        }
        count -= taken?.count ?? 0
        return taken?.result
    }
}
