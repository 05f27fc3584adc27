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
