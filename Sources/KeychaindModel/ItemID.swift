/// The number of an item in its collection and the last element of its object path; never reused.
package struct ItemID: Comparable, Hashable, Sendable {
    package let rawValue: UInt64

    /// Nil unless the number is between 1 and 2⁶³ − 1.
    package init?(rawValue: UInt64) {
        guard rawValue >= 1, rawValue <= UInt64(Int64.max) else { return nil }
        self.rawValue = rawValue
    }

    /// Parses the canonical decimal spelling: digits only, no sign, no leading zero, no overflow.
    package init?(decimal digits: UnsafeRawBufferPointer) {
        guard let first = digits.first, first != UInt8(ascii: "0"), digits.count <= 19 else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            // Nineteen digits stay below 10¹⁹, which fits into UInt64.
            value = value * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        self.init(rawValue: value)
    }

    /// Parses the canonical decimal spelling.
    package init?(decimal text: some StringProtocol) {
        var text = String(text)
        guard let id = text.withUTF8({ ItemID(decimal: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = id
    }

    package static func < (first: ItemID, second: ItemID) -> Bool {
        first.rawValue < second.rawValue
    }
}

extension ItemID: CustomStringConvertible {
    package var description: String { String(rawValue) }
}
