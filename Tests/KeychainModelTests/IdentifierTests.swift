import KeychaindModel
import Testing

@Suite struct CollectionNameTests {
    @Test(
        arguments: [
            ("Default_keyring", "Default_5fkeyring"), ("Work", "Work"), ("a b", "a_20b"), ("../x", "_2e_2e_2fx"),
            ("é", "_c3_a9"), ("", "unnamed"), ("\u{1}", "_01"), ("a\0b", "a_00b"),
        ]
    )
    func label_encoding_matchesGnomeKeyring(label: String, encoded: String) {
        #expect(CollectionName(label: label).encoded == encoded)
    }

    @Test(arguments: ["login", "Default_5fkeyring", "a_20b", "_c3_a9", "0", "_00"])
    func encoded_valid_isAccepted(encoded: String) {
        #expect(CollectionName(encoded: encoded)?.encoded == encoded)
    }

    @Test(
        arguments: [
            "", "a b", "a_", "a_2", "a_2F", "a_61", "_5", "__", "a/b", "..", ".", "é", "a\0", "a_5g",
            String(repeating: "a", count: 101),
        ]
    )
    func encoded_invalid_isRefused(encoded: String) {
        #expect(CollectionName(encoded: encoded) == nil)
    }

    @Test(arguments: ["a", "é", "☃", " ", "aé", "ab☃"])
    func label_long_isCutBetweenCharacters(piece: String) {
        let name = CollectionName(label: String(repeating: piece, count: 200))
        #expect(name.encoded.utf8.count <= CollectionName.maximumLength)
        #expect(name.encoded.utf8.count > CollectionName.maximumLength - 3)
        #expect(CollectionName(encoded: name.encoded) == name)
    }

    @Test(arguments: ["a", "é", " ", "aé", "é5f"])
    func numbered_longName_staysValid(piece: String) {
        let name = CollectionName(label: String(repeating: piece, count: 200)).numbered(12_345)
        #expect(name.encoded.hasSuffix("12345"))
        #expect(CollectionName(encoded: name.encoded) == name)
    }

    @Test func numbered_shortName_appends() {
        #expect(CollectionName(label: "Work").numbered(2).encoded == "Work2")
    }

    @Test func order_isByBytes() {
        #expect(CollectionName(label: "A") < .login)
        #expect(CollectionName.login < .session)
    }
}

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

    @Test func decimal_partOfAText_isRead() {
        #expect(ItemID(decimal: Substring("17")) == ItemID(rawValue: 17))
    }

    @Test(arguments: [0, UInt64(Int64.max) + 1, UInt64.max])
    func rawValue_outOfBounds_isRefused(value: UInt64) {
        #expect(ItemID(rawValue: value) == nil)
    }
}

@Suite struct TimestampTests {
    @Test(arguments: [(0, 0), (999_999, 0), (1_000_000, 1), (1_700_000_000_123_456, 1_700_000_000), (-5_000_000, 0)])
    func seconds_roundsDown_neverNegative(microseconds: Int64, seconds: UInt64) {
        #expect(Timestamp(microsecondsSinceEpoch: microseconds).seconds == seconds)
    }

    @Test func now_twice_doesNotGoFarBack() {
        #expect(Timestamp.now().seconds > 1_700_000_000)
    }

    @Test func order_isByTime() {
        #expect(Timestamp(microsecondsSinceEpoch: -1) < Timestamp(microsecondsSinceEpoch: 0))
    }
}
