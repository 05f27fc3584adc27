/// Base64 with padding (RFC 4648, section 4).
///
/// Table lookups make its run time depend on the data, so the daemon encodes only public keys and ciphertext.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { append($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the encoding; without copies of it elsewhere if the text has room for it.
    package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var bits: UInt32 = 0
            for index in 0..<3 {
                bits = bits << 8 | UInt32(index < count ? bytes[start + index] : 0)
            }
            for index in 0..<4 {
                let value = Int(bits >> (18 - 6 * index) & 0x3F)
                text.append(index <= count ? alphabet[value] : padding)
            }
        }
    }

    /// Decodes whole groups of four with padding only at the end and unused bits zero; nil otherwise.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let digits = text.prefix { $0 != padding }
        let paddingCount = text.count - digits.count
        guard paddingCount <= 2, text.dropFirst(digits.count).allSatisfy({ $0 == padding }) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var bitCount = 0
        for digit in digits {
            guard let value = values[Int(digit)] else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }
}
