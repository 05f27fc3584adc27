import KeychainModel
import Testing

@Suite struct CollectionNameTests {
    @Test(
        arguments: [
            ("Default_keyring", "Default_5fkeyring"), ("Work", "Work"), ("a b", "a_20b"), ("../x", "_2e_2e_2fx"),
            ("é", "_c3_a9"), ("", "unnamed"), ("\u{1}", "_01"), ("a\0b", "a_00b"),
        ]
    )
    func label_isEncodedAsGnomeKeyringDoes(label: String, encoded: String) {
        #expect(CollectionName(label: label).encoded == encoded)
    }

    @Test(arguments: ["login", "Default_5fkeyring", "a_20b", "_c3_a9", "0", "_00"])
    func encoded_valid_isTakenAsItIs(encoded: String) {
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
    func longLabel_isCutBetweenUnits(piece: String) {
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

    @Test func order_isThatOfTheBytes() {
        #expect(CollectionName(label: "A") < .login)
        #expect(CollectionName.login < .session)
    }
}
