import KeychaindModel
import Testing

@Suite struct AttributesTests {
    @Test func packed_isSortedAndTerminated() {
        let attributes: Attributes = ["b": "2", "a": "1"]
        #expect(attributes.packed == [97, 0, 49, 0, 98, 0, 50, 0])
    }

    @Test func init_duplicateName_lastWins() {
        #expect(Attributes([("a", "1"), ("b", "x"), ("a", "2")]) == ["a": "2", "b": "x"])
    }

    @Test func equality_givenOrder_isIgnored() {
        let first = Attributes([("x", "1"), ("a", "2")])
        let second = Attributes([("a", "2"), ("x", "1")])
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
    }

    @Test func equality_composedAndDecomposed_differ() {
        #expect(Attributes([("name", "\u{e9}")]) != Attributes([("name", "e\u{301}")]))
        #expect(Attributes([("\u{e9}", "1"), ("e\u{301}", "2")]).count == 2)
    }

    @Test func init_withNUL_isCut() {
        #expect(Attributes([("a\0b", "c\0d")]) == ["a": "c"])
    }

    @Test func empty_containsNothing() {
        let attributes = Attributes()
        #expect(attributes.isEmpty)
        #expect(attributes.isEmpty && attributes.packed.isEmpty)
        #expect(attributes["a"] == nil)
        #expect(attributes.contains(all: Attributes()))
    }

    @Test func emptyNamesAndValues_areKept() {
        let attributes: Attributes = ["": "empty name", "empty value": ""]
        #expect(attributes.count == 2)
        #expect(attributes[""] == "empty name")
        #expect(attributes["empty value"] == "")
        #expect(attributes["none"] == nil)
    }

    @Test(
        arguments: [
            (["a": "1"], true), (["b": "2"], true), (["a": "1", "c": "3"], true), ([:], true),
            (["a": "1", "b": "2", "c": "3"], true), (["a": "2"], false), (["A": "1"], false), (["a": ""], false),
            (["": ""], false), (["d": "4"], false), (["a": "1", "d": "4"], false), (["ab": "1"], false),
        ] as [(Attributes, Bool)]
    )
    func contains_subset_matchesByBytes(wanted: Attributes, expected: Bool) {
        let attributes: Attributes = ["a": "1", "b": "2", "c": "3"]
        #expect(attributes.contains(all: wanted) == expected)
    }

    @Test func matches_genericSchema_isNone() {
        let generic = "org.freedesktop.Secret.Generic"
        for attributes in [["a": "1", "z": "2"], ["a": "1", "xdg:schema": generic, "z": "2"]] as [Attributes] {
            #expect(attributes.matches(["xdg:schema": generic]))
            #expect(attributes.matches(["a": "1", "xdg:schema": generic, "z": "2"]))
            #expect(!attributes.matches(["xdg:schema": generic, "z": "3"]))
            #expect(!attributes.matches(["a": "2", "xdg:schema": generic]))
            #expect(!attributes.matches(["xdg:schema": "org.example"]))
        }
        #expect(!(["a": "1", "xdg:schema": "org.example"] as Attributes).matches(["xdg:schema": generic]))
    }

    @Test func contains_valueOfAnotherName_doesNotMatch() {
        // The bytes of one pair are a prefix of the other's.
        let attributes: Attributes = ["a": "1", "a1": ""]
        #expect(!attributes.contains(all: ["a": ""]))
        #expect(!attributes.contains(all: ["a1": "1"]))
        #expect(attributes.contains(all: ["a1": ""]))
    }

    @Test func compared_dropsReservedAndTheGenericSchema() {
        let attributes: Attributes = [
            "keychain:access-control": "userPresence", "keychain": "kept", "keychain:": "", "user": "me",
        ]
        #expect(attributes.compared == ["keychain": "kept", "user": "me"])
        #expect((["keychain:x": "1"] as Attributes).compared.isEmpty)
        #expect((["a": "1"] as Attributes).compared == ["a": "1"])
        #expect((["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"] as Attributes).compared == ["a": "1"])
        #expect((["xdg:schema": "org.example"] as Attributes).compared == ["xdg:schema": "org.example"])
    }

    @Test func forEach_passesCStringsInOrder() {
        let attributes: Attributes = ["b": "två", "a": ""]
        var seen: [String] = []
        attributes.forEach { name, value in seen.append(String(cString: name) + "=" + String(cString: value)) }
        #expect(seen == ["a=", "b=två"])
    }

    @Test func forEach_bodyThrows_stopsAndRethrows() {
        struct Stop: Error {}
        let attributes: Attributes = ["a": "1", "b": "2"]
        var calls = 0
        #expect(throws: Stop.self) {
            try attributes.forEach { (_, _) throws(Stop) in
                calls += 1
                throw Stop()
            }
        }
        #expect(calls == 1)
    }

    @Test func forEachPair_passesNameNULValue() {
        let attributes: Attributes = ["user": "me", "a": ""]
        var pairs: [[UInt8]] = []
        attributes.forEachPair { pair in pairs.append(Array(pair)) }
        #expect(pairs == [Array("a\0".utf8), Array("user\0me".utf8)])
    }

    @Test func validating_packedBytes_isEqual() {
        let attributes: Attributes = ["ключ": "значение", "": "", "a": "b"]
        #expect(attributes.packed.withUnsafeBytes { bytes in Attributes(validating: bytes) } == attributes)
    }

    @Test(
        arguments: [
            [0], [97], [97, 0], [97, 0, 98], [97, 0, 98, 0, 99, 0], [98, 0, 0, 97, 0, 0], [97, 0, 0, 97, 0, 0],
            [0xff, 0, 0], [97, 0, 0xc3, 0], [97, 0, 98, 0, 0],
        ] as [[UInt8]]
    )
    func validating_nonCanonical_isRefused(bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes { bytes in Attributes(validating: bytes) } == nil)
    }

    @Test func attributes_many_areAllFound() {
        let pairs = (0..<1000).map { number in ("name \(number)", "value \(number)") }
        let attributes = Attributes(pairs.shuffled())
        #expect(attributes.count == 1000)
        #expect(attributes["name 777"] == "value 777")
        #expect(attributes.contains(all: Attributes(pairs.filter { _ in Bool.random() })))
    }
}
