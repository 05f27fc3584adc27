/// One text of an exchange: a public key, and perhaps a password that is encrypted under what both sides' keys agree
/// on.
///
/// Nothing in it is secret to whoever has not one of the private keys.
package struct GCRExchangeMessage: Hashable, Sendable {
    /// The largest text that is read, in bytes: room for a password of 40 KiB.
    package static let sizeLimit = 64 * 1024

    private static let group = "sx-aes-1"

    /// The sender's public key, most significant byte first.
    package let publicKey: [UInt8]
    /// The encrypted password, if one is sent.
    package let password: Password?

    /// A password as it travels.
    package struct Password: Hashable, Sendable {
        /// AES-128-CBC with PKCS#7 padding, so of 16 bytes at least.
        package let ciphertext: [UInt8]
        /// The initialization vector, of 16 bytes.
        package let iv: [UInt8]

        /// Creates a password as it travels.
        package init(ciphertext: [UInt8], iv: [UInt8]) {
            self.ciphertext = ciphertext
            self.iv = iv
        }
    }

    /// Creates a message; without a password, it only brings a public key.
    package init(publicKey: [UInt8], password: Password? = nil) {
        self.publicKey = publicKey
        self.password = password
    }

    /// Reads a text; nil if it is no message of this kind of exchange.
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

/// The entries of one group of a key file, as GLib's GKeyFile writes them: `[group]`, then lines `key=value`.
///
/// Comments, other groups and spaces around keys and values are passed over, of a repeated key the last counts. Values
/// stay bytes; the escapes that GLib knows do not occur in what is read here.
package struct KeyFile {
    private var values: [[UInt8]: ArraySlice<UInt8>] = [:]

    /// Reads a text; nil if the group is not in it, or a line is none of what a key file has.
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

    /// The value of a key, if it is there.
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

/// The base64 encoding with padding (RFC 4648, section 4).
///
/// For public keys and ciphertext: it looks bytes up in tables, so that its time may tell something of them.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The value of each ASCII character that has one.
    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()

    /// Encodes bytes.
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

    /// Decodes text; nil if it is not just that: whole groups of four, padding at the end only, and no bit set that is
    /// not used.
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
