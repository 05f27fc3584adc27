/// The encoding of a label as an element of an object path, that of gnome-keyring (#10).
///
/// ASCII letters and digits stand for themselves, every other byte of the UTF-8 label becomes `_xx` in lower-case
/// hexadecimal.
package enum LabelEncoding {
    /// Encodes a label up to the last byte whose encoding ends within the limit.
    package static func encode(_ label: String, atMost limit: Int = .max) -> String {
        var encoded = ""
        for byte in label.utf8 {
            let unit = standsForItself(byte) ? String(UnicodeScalar(byte)) : escape(byte)
            guard encoded.utf8.count + unit.utf8.count <= limit else { break }
            encoded += unit
        }
        return encoded
    }

    static func standsForItself(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            false
        }
    }

    private static func escape(_ byte: UInt8) -> String {
        (byte < 16 ? "_0" : "_") + String(byte, radix: 16)
    }
}
