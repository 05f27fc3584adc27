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

/// The percent escapes of the Assuan protocol.
package enum PercentEncoding {
    private static let percent = UInt8(ascii: "%")
    private static let digits = Array("0123456789ABCDEF".utf8)
    private static let ellipsis = Array("…".utf8)

    /// Escapes a text; truncates it at a character to the limit in bytes.
    package static func encode(_ text: String, limit: Int) -> [UInt8] {
        if let whole = prefix(of: text, limit: limit), whole.isComplete { return whole.bytes }
        guard let part = prefix(of: text, limit: limit - ellipsis.count) else { return [] }
        return part.bytes + ellipsis
    }

    private static func prefix(of text: String, limit: Int) -> (bytes: [UInt8], isComplete: Bool)? {
        guard limit >= 0 else { return nil }
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            let next = scalar.utf8.flatMap { byte in
                byte == percent || byte < 0x20 || byte == 0x7F
                    ? [percent, digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
                    : [byte]
            }
            guard bytes.count + next.count <= limit else { return (bytes, false) }
            bytes += next
        }
        return (bytes, true)
    }

    /// Decodes directly into the buffer, since the bytes may be secret.
    ///
    /// Returns the length; nil if an escape is incomplete or the buffer too small.
    package static func decode(_ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var count = 0
        var index = 0
        while index < bytes.count {
            guard count < buffer.count else { return nil }
            if bytes[index] == percent {
                guard index + 2 < bytes.count, let high = value(of: bytes[index + 1]),
                    let low = value(of: bytes[index + 2])
                else { return nil }
                buffer[count] = high << 4 | low
                index += 3
            } else {
                buffer[count] = bytes[index]
                index += 1
            }
            count += 1
        }
        return count
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
