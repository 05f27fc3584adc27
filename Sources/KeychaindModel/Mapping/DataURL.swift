/// Bytes as a `data:` URL (RFC 2397) with each byte percent-encoded, for values that a D-Bus text cannot hold.
enum DataURL {
    private static let prefix = "data:application/octet-stream,"

    /// The bytes as text without NUL; nil if they are no such text.
    static func plainText(_ bytes: [UInt8]) -> String? {
        bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// Plain text unchanged, all other bytes as a URL.
    static func encode(_ bytes: [UInt8]) -> String {
        plainText(bytes) ?? prefix + bytes.map { "%" + Hexadecimal.text([$0]) }.joined()
    }

    /// The bytes of a URL from ``encode(_:)``; nil for plain text.
    static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.starts(with: prefix.utf8) else { return nil }
        let encoded = Array(text.utf8.dropFirst(prefix.utf8.count))
        guard encoded.count.isMultiple(of: 3) else { return nil }
        var digits: [UInt8] = []
        for start in stride(from: 0, to: encoded.count, by: 3) {
            guard encoded[start] == UInt8(ascii: "%") else { return nil }
            digits += encoded[start + 1...start + 2]
        }
        guard let bytes = Hexadecimal.bytes(digits), encode(bytes).utf8.elementsEqual(text.utf8) else { return nil }
        return bytes
    }
}

/// Lower-case hexadecimal.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func bytes(_ characters: [UInt8]) -> [UInt8]? {
        guard characters.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        for index in stride(from: 0, to: characters.count, by: 2) {
            guard let high = digits.firstIndex(of: characters[index]),
                let low = digits.firstIndex(of: characters[index + 1])
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
