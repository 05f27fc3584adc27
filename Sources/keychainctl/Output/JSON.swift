import KeychaindGcrypt
import KeychaindModel
import SecretServiceClient

/// JSON from bytes that can be wiped, which encoders of strings do not offer.
enum JSON {
    private static let digits = Array("0123456789abcdef".utf8)

    /// A text as a string in ASCII where a terminal could act on it: the characters that `visible` escapes.
    static func string(_ text: String) -> String {
        var result = ""
        append(text, to: &result)
        return result
    }

    /// Appends a text as `string` returns it.
    static func append(_ text: String, to json: inout String) {
        json += "\""
        // Almost all texts; the categories of Unicode cost much more.
        let isPlain = text.utf8.allSatisfy { byte in
            (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        if isPlain { json += text } else { appendEscaped(text, to: &json) }
        json += "\""
    }

    private static func appendEscaped(_ text: String, to json: inout String) {
        for scalar in text.unicodeScalars {
            if isEscaped(scalar) {
                for unit in scalar.utf16 {
                    let digits = String(unit, radix: 16)
                    json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                if scalar == "\"" || scalar == "\\" { json += "\\" }
                json.unicodeScalars.append(scalar)
            }
        }
    }

    /// Whether a terminal could act on a character, or show a line in another order.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20..<0x7f).contains(scalar.value) { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }

    /// An array with an element a line.
    static func array(_ elements: [String]) -> String {
        elements.isEmpty ? "[]" : "[\n\(elements.joined(separator: ",\n"))\n]"
    }

    /// Appends attributes as an object, sorted by name.
    static func append(_ attributes: [String: String], to json: inout String) {
        json += "{"
        for (index, (name, value)) in attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { json += ", " }
            append(name, to: &json)
            json += ": "
            append(value, to: &json)
        }
        json += "}"
    }

    static func append(_ text: String, to output: inout [UInt8]) {
        append(Array(text.utf8), to: &output)
    }

    /// Appends UTF-8 as a string, with the escapes of `string`; a byte takes at most six.
    static func append(_ bytes: some Sequence<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        decoding: while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): append(scalar: scalar, to: &output)
            case .error: append(scalar: "\u{FFFD}", to: &output)
            case .emptyInput: break decoding
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func append(scalar: Unicode.Scalar, to output: inout [UInt8]) {
        guard isEscaped(scalar) else {
            if scalar == "\"" || scalar == "\\" { output.append(UInt8(ascii: "\\")) }
            return output.append(contentsOf: scalar.utf8)
        }
        for unit in scalar.utf16 {
            output.append(UInt8(ascii: "\\"))
            output.append(UInt8(ascii: "u"))
            for place in 0..<4 { output.append(digits[Int(unit >> UInt16(12 - 4 * place)) & 15]) }
        }
    }
}

extension JSON {
    /// Appends a secret as a string: text with the escapes of `string`, other bytes in base 64.
    ///
    /// There is room for a few more bytes afterwards: an array that grows leaves a copy of the secret.
    ///
    /// - Parameter isMember: whether the name of the member comes first, `secret` or `secret-base64`.
    static func append(_ secret: borrowing Secret, isMember: Bool, to output: inout [UInt8]) {
        output.reserveCapacity(output.count + secret.count * 6 + 64)
        secret.withUnsafeBytes { bytes in
            if UTF8Check.isValid(bytes) {
                if isMember { output += Array("\"secret\": ".utf8) }
                append(bytes, to: &output)
            } else {
                output += Array((isMember ? "\"secret-base64\": \"" : "\"base64:").utf8)
                Base64.append(bytes, to: &output)
                output.append(UInt8(ascii: "\""))
            }
        }
    }
}
