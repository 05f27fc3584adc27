/// The name of a collection: the last element of its object path and the stem of its file name.
///
/// It is encoded as ``LabelEncoding`` says, and so safe in paths and file names.
package struct CollectionName: Comparable, Hashable, Sendable {
    /// The maximum length in bytes, which leaves room for suffixes of a file name.
    package static let maximumLength = 100

    package static let login = CollectionName(unchecked: "login")

    /// The collection in memory.
    package static let session = CollectionName(unchecked: "session")

    /// The encoded name: 1 to 100 bytes of ASCII.
    package let encoded: String

    /// Encodes a label, truncated to 100 bytes at a character of the encoding; an empty label becomes `unnamed`.
    package init(label: String) {
        encoded = label.isEmpty ? "unnamed" : LabelEncoding.encode(label, atMost: Self.maximumLength)
    }

    /// Takes an encoded name; nil unless it is the encoding of a label.
    package init?(encoded: some StringProtocol) {
        var text = String(encoded)
        guard text.withUTF8(Self.isEncoding) else { return nil }
        self.encoded = text
    }

    private static func isEncoding(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes.count <= maximumLength else { return false }
        var bytes = bytes.makeIterator()
        while let byte = bytes.next() {
            if LabelEncoding.standsForItself(byte) { continue }
            guard byte == UInt8(ascii: "_"),
                let high = bytes.next().flatMap(hexadecimalValue),
                let low = bytes.next().flatMap(hexadecimalValue),
                !LabelEncoding.standsForItself(high << 4 | low)
            else { return false }
        }
        return true
    }

    private init(unchecked encoded: String) {
        self.encoded = encoded
    }

    /// Appends a number, for another collection with the same label.
    package func numbered(_ number: Int) -> CollectionName {
        let suffix = String(number)
        var stem = encoded[...]
        while stem.utf8.count + suffix.utf8.count > Self.maximumLength {
            // A character of the encoding is one byte, or three if it begins with an underscore.
            let isEscape = stem.utf8.count >= 3 && stem.dropLast(2).last == "_"
            stem.removeLast(isEscape ? 3 : 1)
        }
        return CollectionName(unchecked: stem + suffix)
    }

    package static func < (first: CollectionName, second: CollectionName) -> Bool {
        first.encoded < second.encoded
    }

    private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension CollectionName: CustomStringConvertible {
    package var description: String { encoded }
}
