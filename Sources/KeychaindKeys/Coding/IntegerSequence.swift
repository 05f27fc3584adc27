import KeychaindGcrypt

/// A DER SEQUENCE of non-negative INTEGERs (X.690), as in PKCS #1 keys and X9.62 signatures.
enum IntegerSequence {
    /// In bytes.
    private static let limit = 1 << 16

    private static let sequenceTag: UInt8 = 0x30
    private static let integerTag: UInt8 = 0x02

    /// Parses a complete sequence and returns the ranges of the integers without leading zeros.
    ///
    /// Throws ``KeyError/Code/malformedKey`` for another count of integers and for anything that is not DER.
    static func parse(_ der: UnsafeRawBufferPointer, count: Int) throws(KeyError) -> [Range<Int>] {
        guard der.count <= limit else { throw malformed }
        var rest = 0..<der.count
        var body = try element(sequenceTag, der, &rest)
        guard rest.isEmpty else { throw malformed }
        var integers: [Range<Int>] = []
        while !body.isEmpty {
            guard integers.count < count else { throw malformed }
            integers.append(try magnitude(der, element(integerTag, der, &body)))
        }
        guard integers.count == count else { throw malformed }
        return integers
    }

    /// Parses integers that are not secret.
    static func parse(_ der: [UInt8], count: Int) throws(KeyError) -> [[UInt8]] {
        let ranges = try der.span.withUnsafeBytes { (der) throws(KeyError) in try parse(der, count: count) }
        return ranges.map { Array(der[$0]) }
    }

    /// Encodes non-negative integers, most significant byte first, with or without leading zeros.
    static func encode(_ integers: [[UInt8]]) -> [UInt8] {
        var body: [UInt8] = []
        for integer in integers {
            let significant = integer.drop { $0 == 0 }
            body += prefix(ofInteger: significant.count, first: significant.first)
            body += significant
        }
        return header(sequenceTag, length: body.count) + body
    }

    /// Encodes secret integers without leading zeros.
    ///
    /// - Parameter capacity: the most bytes of all integers together.
    static func encode(
        count: Int,
        capacity: Int,
        _ integer: (Int) throws(GcryptError) -> SecureBytes
    ) throws(GcryptError) -> SecureBytes {
        let room = largestHeader * (count + 1)
        var output = try SecureBytes(count: room + capacity)
        var end = largestHeader
        for index in 0..<count {
            let bytes = try integer(index)
            bytes.withUnsafeBytes { bytes in
                let prefix = prefix(ofInteger: bytes.count, first: bytes.first)
                output.withUnsafeMutableBytes { output in
                    UnsafeMutableRawBufferPointer(rebasing: output[end...]).copyBytes(from: prefix)
                    end += prefix.count
                    UnsafeMutableRawBufferPointer(rebasing: output[end...]).copyMemory(from: bytes)
                    end += bytes.count
                }
            }
        }
        let header = header(sequenceTag, length: end - largestHeader)
        let start = largestHeader - header.count
        output.withUnsafeMutableBytes { output in
            UnsafeMutableRawBufferPointer(rebasing: output[start...]).copyBytes(from: header)
        }
        output.truncate(to: end)
        output.removeFirst(start)
        return output
    }

    /// The most bytes in front of an integer or of the sequence: type, length, and the sign of an integer.
    private static let largestHeader = 6

    private static func prefix(ofInteger count: Int, first: UInt8?) -> [UInt8] {
        // Zero, and numbers that would look negative.
        let isPadded = (first ?? 0x80) >= 0x80
        return header(integerTag, length: count + (isPadded ? 1 : 0)) + (isPadded ? [0] : [])
    }

    private static func header(_ tag: UInt8, length: Int) -> [UInt8] {
        guard length >= 0x80 else { return [tag, UInt8(length)] }
        let size = (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
        let bytes = (0..<size).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        return [tag, 0x80 | UInt8(size)] + bytes
    }

    private static var malformed: KeyError {
        KeyError(.malformedKey, "the data is not a DER sequence of the expected integers")
    }

    /// Takes an element of a type off the front of a range, and returns the range of its contents.
    private static func element(
        _ tag: UInt8,
        _ der: UnsafeRawBufferPointer,
        _ rest: inout Range<Int>
    ) throws(KeyError) -> Range<Int> {
        guard rest.count >= 2, der[rest.lowerBound] == tag else { throw malformed }
        var start = rest.lowerBound + 2
        var length = Int(der[rest.lowerBound + 1])
        if length >= 0x80 {
            let size = length - 0x80
            // The limit needs at most three bytes. DER has the shortest form only.
            guard (1...3).contains(size), rest.upperBound - start >= size else { throw malformed }
            length = der[start..<(start + size)].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80, length >> (8 * (size - 1)) > 0 else { throw malformed }
            start += size
        }
        guard length <= rest.upperBound - start else { throw malformed }
        rest = (start + length)..<rest.upperBound
        return start..<(start + length)
    }

    private static func magnitude(_ der: UnsafeRawBufferPointer, _ range: Range<Int>) throws(KeyError) -> Range<Int> {
        guard let first = range.first, der[first] < 0x80 else { throw malformed }
        guard der[first] == 0 else { return range }
        // A zero byte in front is there only for the sign.
        guard range.count == 1 || der[first + 1] >= 0x80 else { throw malformed }
        return (first + 1)..<range.upperBound
    }
}
