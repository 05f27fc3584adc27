import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindImport
import Testing

/// Which items of a source are new, the same or different.
@Suite(.lockedPool)
struct ItemComparisonTests {
    @Test("equal items are paired, each once")
    func comparison_twins_areCounted() throws {
        let twin = try Self.item("twin")
        let one = ItemComparison([twin, twin], with: [twin])
        #expect((one.new.count, one.same.count, one.differing.count) == (1, 1, 0))
        let two = ItemComparison([twin, twin], with: [twin, twin, twin])
        #expect((two.new.count, two.same.count, two.differing.count) == (0, 2, 0))
    }

    @Test("an equal item is never paired with one that differs")
    func comparison_equalAndDiffering_arePairedRight() throws {
        let (one, two) = (try Self.item("one"), try Self.item("two"))
        let comparison = ItemComparison([one, two], with: [two])
        #expect((comparison.new.count, comparison.same.count, comparison.differing.count) == (1, 1, 0))
        #expect(comparison.same.first === two)
    }

    @Test("an item with the generic schema is the same as one without a schema")
    func comparison_genericSchema_isNone() throws {
        let plain = try Self.item("secret")
        let generic = try Self.item("secret", attributes: ["n": "1", "xdg:schema": "org.freedesktop.Secret.Generic"])
        for (item, present) in [(plain, generic), (generic, plain)] {
            #expect(ItemComparison([item], with: [present]).same.count == 1)
        }
        let other = try Self.item("secret", attributes: ["n": "1", "xdg:schema": "org.example.Other"])
        #expect(ItemComparison([plain], with: [other]).new.count == 1)
    }

    @Test(
        "secret, content type and label make a difference, times do not",
        arguments: [("secret", ImportedItem.Difference.secret), ("type", .contentType), ("label", .label)]
    )
    func comparison_part_differs(part: String, difference: ImportedItem.Difference) throws {
        let other = try Self.item(
            part == "secret" ? "other" : "secret",
            label: part == "label" ? "other" : "label",
            contentType: part == "type" ? "other" : "text/plain"
        )
        let comparison = ItemComparison([other], with: [try Self.item("secret")])
        #expect(comparison.differing.first?.differences == [difference])
        let older = ItemComparison([try Self.item("secret", modified: 1)], with: [try Self.item("secret")])
        #expect(older.same.count == 1)
    }

    @Test("an item is replaced in place unless another one could be meant")
    func comparison_lookalike_isNotReplaceable() throws {
        let present = try Self.item("old")
        let new = try Self.item("new")
        #expect(ItemComparison([new], with: [present]).differing.first?.isReplaceable == true)
        let lookalike = try Self.item("old", attributes: ["n": "1", "xdg:schema": "other"])
        #expect(ItemComparison([new], with: [present, lookalike]).differing.first?.isReplaceable == false)
    }

    @Test("new items are written in the order of their changes")
    func comparison_new_isSortedByTime() throws {
        let times: [UInt64] = [3, 1, 2]
        let items = try times.map { time in try Self.item("\(time)", modified: time) }
        #expect(ItemComparison(items, with: []).new.map { $0.item.modified } == [1, 2, 3])
    }

    private static func item(
        _ secret: String,
        label: String = "label",
        attributes: [String: String] = ["n": "1"],
        contentType: String = "text/plain",
        modified: UInt64? = nil
    ) throws -> ImportedItem {
        ImportedItem(
            ForeignItem(
                keychain: "login",
                label: label,
                attributes: attributes,
                secret: try SecureBytes(copying: Array(secret.utf8)),
                contentType: contentType,
                created: nil,
                modified: modified
            )
        )
    }
}
