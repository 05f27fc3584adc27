import KeychaindGcrypt

/// The value of a map in a wallet: Qt's serialisation of `QMap<QString, QString>`.
struct KWalletMap {
    /// The most values of a map: a thousand times a large one.
    private static let maximumCount = 1 << 16

    /// The values by their names, in UTF-16.
    private var values: [(name: [UInt16], value: QStringUnits)] = []

    /// Valid only as long as the bytes are.
    init(_ bytes: UnsafeRawBufferPointer) throws(ForeignFileError) {
        // ksecretd takes an empty value for an empty map.
        guard !bytes.isEmpty else { return }
        var reader = ByteReader(bytes)
        var places: [[UInt16]: Int] = [:]
        let count = try reader.count(entryBytes: 8)
        guard count <= Self.maximumCount else { throw .damaged(at: 0) }
        for _ in 0..<count {
            let name = Array(try QStringUnits(&reader))
            let value = try QStringUnits(&reader)
            if let place = places[name] {
                values[place].value = value
            } else {
                places[name] = values.count
                values.append((name, value))
            }
        }
        guard reader.isAtEnd else { throw .damaged(at: reader.offset) }
        values.sort { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// The map as JSON, in the form in which ksecretd gives it and kwalletd6 reads it.
    func json() throws(ForeignFileError) -> SecureBytes {
        var result = try SecureBuffer()
        try result.append(UInt8(ascii: "{"))
        for (index, (name, value)) in values.enumerated() {
            if index > 0 { try result.append(UInt8(ascii: ",")) }
            try Self.append(name, to: &result)
            try result.append(UInt8(ascii: ":"))
            try Self.append(value, to: &result)
        }
        try result.append(UInt8(ascii: "}"))
        return try result.withUnsafeBytes { (bytes) throws(ForeignFileError) in try SecureBytes(secret: bytes) }
    }

    private static func append(
        _ units: some Sequence<UInt16>,
        to result: inout SecureBuffer
    ) throws(ForeignFileError) {
        try result.append(UInt8(ascii: "\""))
        try units.forEachScalar { (scalar) throws(ForeignFileError) in
            switch scalar {
            case "\"", "\\":
                try result.append(UInt8(ascii: "\\"))
                try result.append(scalar)
            case "\u{8}": try append("b", escapedTo: &result)
            case "\u{c}": try append("f", escapedTo: &result)
            case "\n": try append("n", escapedTo: &result)
            case "\r": try append("r", escapedTo: &result)
            case "\t": try append("t", escapedTo: &result)
            case "\0"..<" ":
                try append("u", escapedTo: &result)
                for digit in "00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))".unicodeScalars {
                    try result.append(digit)
                }
            default: try result.append(scalar)
            }
        }
        try result.append(UInt8(ascii: "\""))
    }

    private static func append(
        _ letter: Unicode.Scalar,
        escapedTo result: inout SecureBuffer
    ) throws(ForeignFileError) {
        try result.append(UInt8(ascii: "\\"))
        try result.append(letter)
    }
}

/// The code units of a `QString` in a file: UTF-16, most significant byte first.
struct QStringUnits: RandomAccessCollection {
    private let bytes: UnsafeRawBufferPointer

    /// Reads a string behind its size; valid only as long as the bytes of the reader are.
    init(_ reader: inout ByteReader) throws(ForeignFileError) {
        let start = reader.offset
        bytes = try reader.sizedBytes() ?? UnsafeRawBufferPointer(start: nil, count: 0)
        guard bytes.count.isMultiple(of: 2) else { throw .damaged(at: start) }
    }

    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count / 2 }

    subscript(index: Int) -> UInt16 {
        UInt16(bytes[2 * index]) << 8 | UInt16(bytes[2 * index + 1])
    }
}

extension Sequence<UInt16> {
    /// Decodes UTF-16, of which half a surrogate pair becomes U+FFFD.
    func forEachScalar(_ body: (Unicode.Scalar) throws(ForeignFileError) -> Void) throws(ForeignFileError) {
        var decoder = UTF16()
        var units = makeIterator()
        while true {
            switch decoder.decode(&units) {
            case .scalarValue(let scalar): try body(scalar)
            case .error: try body("\u{fffd}")
            case .emptyInput: return
            }
        }
    }
}
