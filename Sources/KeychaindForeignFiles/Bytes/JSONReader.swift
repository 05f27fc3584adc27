import KeychaindGcrypt

/// Reads JSON (RFC 8259) value by value, so that secrets go from the file into `SecureBytes` only.
///
/// Valid only as long as the bytes are.
struct JSONReader {
    /// The deepest nesting: exports have five levels.
    static let maximumDepth = 64

    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0
    private var depth = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The first byte of the next value, which says its kind.
    mutating func peek() throws(ForeignFileError) -> UInt8 {
        skipSpace()
        guard offset < bytes.count else { throw .damaged(at: offset) }
        return bytes[offset]
    }

    /// Reads an object; the closure reads each value, and may throw errors of its own.
    mutating func members(_ member: (String, inout JSONReader) throws -> Void) throws {
        try open("{")
        guard try peek() != UInt8(ascii: "}") else { return close() }
        while true {
            let name = try text()
            try expect(":")
            try member(name, &self)
            guard try goesOn(until: "}") else { return }
        }
    }

    /// The same for a closure whose errors are those of the file.
    mutating func object(
        _ member: (String, inout JSONReader) throws(ForeignFileError) -> Void
    ) throws(ForeignFileError) {
        try open("{")
        guard try peek() != UInt8(ascii: "}") else { return close() }
        while true {
            let name = try text()
            try expect(":")
            try member(name, &self)
            guard try goesOn(until: "}") else { return }
        }
    }

    /// Reads an array; the closure reads each value.
    mutating func array(_ element: (inout JSONReader) throws -> Void) throws {
        try open("[")
        guard try peek() != UInt8(ascii: "]") else { return close() }
        while true {
            try element(&self)
            guard try goesOn(until: "]") else { return }
        }
    }

    /// Reads a string.
    mutating func string() throws(ForeignFileError) -> SecureBuffer {
        try expect("\"")
        var result = try SecureBuffer(capacity: 64)
        while true {
            let byte = try next()
            switch byte {
            case UInt8(ascii: "\""): return result
            case UInt8(ascii: "\\"): try result.append(try escape())
            case 0..<0x20: throw .damaged(at: offset - 1)
            default: try result.append(byte)
            }
        }
    }

    /// Reads a string that is not secret.
    mutating func text() throws(ForeignFileError) -> String {
        try string().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a string that is not secret; nil for a value of another kind.
    mutating func optionalText() throws(ForeignFileError) -> String? {
        guard try peek() == UInt8(ascii: "\"") else {
            _ = try skip()
            return nil
        }
        return try text()
    }

    /// Reads a string; nil for a value of another kind or an empty one.
    mutating func secret() throws(ForeignFileError) -> SecureBytes? {
        guard try peek() == UInt8(ascii: "\"") else {
            _ = try skip()
            return nil
        }
        let string = try string()
        guard string.count > 0 else { return nil }
        return try string.withUnsafeBytes { (bytes) throws(ForeignFileError) in try SecureBytes(secret: bytes) }
    }

    /// Skips a value and returns its bytes.
    mutating func skip() throws(ForeignFileError) -> UnsafeRawBufferPointer {
        let first = try peek()
        let start = offset
        switch first {
        case UInt8(ascii: "{"): try object { (_, reader) throws(ForeignFileError) in _ = try reader.skip() }
        case UInt8(ascii: "["): try skipArray()
        case UInt8(ascii: "\""): _ = try string()
        default:
            while offset < bytes.count, isLiteral(bytes[offset]) { offset += 1 }
            guard offset > start else { throw .damaged(at: start) }
        }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }

    /// Checks that nothing follows.
    mutating func end() throws(ForeignFileError) {
        skipSpace()
        guard offset == bytes.count else { throw .damaged(at: offset) }
    }

    private mutating func skipArray() throws(ForeignFileError) {
        try open("[")
        guard try peek() != UInt8(ascii: "]") else { return close() }
        repeat { _ = try skip() } while try goesOn(until: "]")
    }

    private mutating func open(_ bracket: Unicode.Scalar) throws(ForeignFileError) {
        try expect(bracket)
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw ForeignFileError(.damaged, "the file is nested too deeply at byte \(offset)")
        }
    }

    private mutating func close() {
        offset += 1
        depth -= 1
    }

    /// Reads the comma or bracket behind a value.
    private mutating func goesOn(until bracket: Unicode.Scalar) throws(ForeignFileError) -> Bool {
        let byte = try peek()
        offset += 1
        if byte == UInt8(ascii: ",") { return true }
        guard byte == UInt8(ascii: bracket) else { throw .damaged(at: offset - 1) }
        depth -= 1
        return false
    }

    private mutating func escape() throws(ForeignFileError) -> Unicode.Scalar {
        let start = offset
        switch try next() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw .damaged(at: start)
        }
    }

    /// Reads the digits of `\u`, with the second half of a pair; half a pair becomes U+FFFD.
    private mutating func unicodeEscape() throws(ForeignFileError) -> Unicode.Scalar {
        let first = try hexUnit()
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) ?? "\u{fffd}" }
        let start = offset
        guard bytes[start...].starts(with: Array("\\u".utf8)) else { return "\u{fffd}" }
        offset += 2
        let second = try hexUnit()
        guard UTF16.isTrailSurrogate(second) else {
            offset = start
            return "\u{fffd}"
        }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func hexUnit() throws(ForeignFileError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = hexDigit(try next()) else { throw .damaged(at: offset - 1) }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    private mutating func expect(_ scalar: Unicode.Scalar) throws(ForeignFileError) {
        guard try peek() == UInt8(ascii: scalar) else { throw .damaged(at: offset) }
        offset += 1
    }

    private mutating func next() throws(ForeignFileError) -> UInt8 {
        guard offset < bytes.count else { throw .damaged(at: offset) }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func skipSpace() {
        while offset < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[offset]) { offset += 1 }
    }

    private func isLiteral(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// The value of a hexadecimal digit.
func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
