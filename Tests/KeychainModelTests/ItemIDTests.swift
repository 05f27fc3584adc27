import KeychainModel
import Testing

@Suite struct ItemIDTests {
    @Test(arguments: [("1", 1), ("42", 42), ("9223372036854775807", UInt64(Int64.max))])
    func decimal_valid_isRead(text: String, value: UInt64) {
        #expect(ItemID(decimal: text)?.rawValue == value)
        #expect(ItemID(decimal: text)?.description == text)
    }

    @Test(
        arguments: [
            "", "0", "01", "+1", "-1", " 1", "1 ", "1a", "0x1", "١", "9223372036854775808", "18446744073709551616",
            "99999999999999999999", "1.0", "1\0",
        ]
    )
    func decimal_invalid_isRefused(text: String) {
        #expect(ItemID(decimal: text) == nil)
    }

    @Test func decimal_fromBytes_isRead() {
        #expect(ItemID(decimal: Array("17".utf8)) == ItemID(rawValue: 17))
        #expect(ItemID(decimal: Substring("17")) == ItemID(rawValue: 17))
    }

    @Test(arguments: [0, UInt64(Int64.max) + 1, UInt64.max])
    func rawValue_outOfBounds_isRefused(value: UInt64) {
        #expect(ItemID(rawValue: value) == nil)
    }
}
