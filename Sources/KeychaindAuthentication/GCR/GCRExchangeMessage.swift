/// A message of the key exchange: a public key and optionally an encrypted password.
///
/// It reveals nothing without one of the private keys.
package struct GCRExchangeMessage: Hashable, Sendable {
    /// The size limit in bytes, enough for passwords of 40 KiB.
    package static let sizeLimit = 64 * 1024

    private static let group = "sx-aes-1"

    /// The sender's public key, most significant byte first.
    package let publicKey: [UInt8]
    package let password: Password?

    package struct Password: Hashable, Sendable {
        /// AES-128-CBC ciphertext with PKCS#7 padding, 16 bytes or more.
        package let ciphertext: [UInt8]
        /// The initialization vector, 16 bytes.
        package let iv: [UInt8]

        package init(ciphertext: [UInt8], iv: [UInt8]) {
            self.ciphertext = ciphertext
            self.iv = iv
        }
    }

    package init(publicKey: [UInt8], password: Password? = nil) {
        self.publicKey = publicKey
        self.password = password
    }

    package init?(parsing text: UnsafeRawBufferPointer) {
        guard text.count <= GCRExchangeMessage.sizeLimit,
            let file = KeyFile(parsing: [UInt8](text), group: GCRExchangeMessage.group),
            let publicKey = file["public"].flatMap(Base64.decode)
        else { return nil }
        self.publicKey = publicKey
        guard let secret = file["secret"] else {
            password = nil
            return
        }
        guard let ciphertext = Base64.decode(secret), let iv = file["iv"].flatMap(Base64.decode) else { return nil }
        password = Password(ciphertext: ciphertext, iv: iv)
    }

    /// The text of a message without a password.
    package var text: String {
        "[\(GCRExchangeMessage.group)]\npublic=\(Base64.encode(publicKey))\n"
    }
}

/// One group of a GLib key file: `[group]`, then lines `key=value`.
///
/// Skips comments, other groups and surrounding spaces. The last value of a repeated key counts. Values are raw bytes;
/// the exchange uses no escapes.
package struct KeyFile {
    private var values: [[UInt8]: ArraySlice<UInt8>] = [:]

    /// Parses a text; nil if malformed or without the group.
    package init?(parsing text: [UInt8], group: String) {
        let header = "[\(group)]"
        var foundGroup = false
        var isInGroup = false
        for line in text.split(separator: UInt8(ascii: "\n")).map(KeyFile.trim) {
            switch line.first {
            case nil, UInt8(ascii: "#"):
                continue
            case UInt8(ascii: "["):
                guard line.last == UInt8(ascii: "]") else { return nil }
                isInGroup = line.elementsEqual(header.utf8)
                foundGroup = foundGroup || isInGroup
            default:
                guard let separator = line.firstIndex(of: UInt8(ascii: "=")), separator > line.startIndex else {
                    return nil
                }
                if isInGroup {
                    values[Array(KeyFile.trim(line[..<separator]))] = KeyFile.trim(line[(separator + 1)...])
                }
            }
        }
        guard foundGroup else { return nil }
    }

    package subscript(key: String) -> ArraySlice<UInt8>? {
        values[Array(key.utf8)]
    }

    private static func trim(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) {
            line.removeLast()
        }
        return line
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}

/// Base64 with padding (RFC 4648, section 4).
///
/// Only for public keys and ciphertext: table lookups make its run time depend on the data.
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
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for index in 0..<3 {
                bits = bits << 8 | UInt32(start + index < group.endIndex ? group[start + index] : 0)
            }
            for index in 0..<4 {
                let value = Int(bits >> (18 - 6 * index) & 0x3F)
                text.append(index <= group.count ? alphabet[value] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
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
