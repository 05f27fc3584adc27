import KeychaindLanguage
import KeychaindSwitch
import Testing

/// Whether a switch would lose items.
@Suite struct ImportRecordTests {
    private static let folder = "/home/anna/.local/state/keychaind/imports"

    private func record(_ items: Int, left: Int = 0, more: String = "") -> String {
        let copied = items - left
        return #"{"version":1,"source":"gnome-keyring","finished":5,"items":\#(items),"copied":\#(copied),"same":0,"#
            + #""left":\#(left)\#(more)}"#
    }

    private func gap(_ report: String?, items: Int) throws -> String? {
        let system = try MadeUpSystem()
        if let report { try system.write(report, to: "\(ImportRecordTests.folder)/5-gnome-keyring.json") }
        return ImportSource(program: "/usr/bin/gnome-keyring-daemon", items: items).gap(in: system.account())?.english
    }

    @Test("without a complete import of as many items, there is a gap")
    func gap_isNamed() throws {
        #expect(try gap(nil, items: 3) == "its 3 items have not been imported")
        #expect(try gap(record(3), items: 4) == "1 item is newer than the import")
        #expect(try gap(record(3, left: 2), items: 3) == "2 items could not be imported")
        let lost = #","leftItems":[{"label":"portal secret of org.example.Mail","keychain":"login","reason":"x"}]"#
        #expect(
            try gap(record(3, left: 1, more: lost), items: 3)
                == "1 item could not be imported: “portal secret of org.example.Mail”"
        )
        #expect(try gap(record(3, more: #","skippedKeychains":["a"]"#), items: 3) == "1 keychain was not imported")
        #expect(try gap("not JSON", items: 3) != nil)
        #expect(try gap(#"{"version":2}"#, items: 3) != nil)
        #expect(try gap(record(.min), items: 3) == "its 3 items have not been imported")
    }

    @Test("after a complete import, and without items, there is none")
    func gap_isNone() throws {
        #expect(try gap(nil, items: 0) == nil)
        #expect(try gap(record(3), items: 3) == nil)
        #expect(try gap(record(3), items: 2) == nil)
        let kept = #","leftItems":[{"label":"a","keychain":"b","reason":"keychaind's own was kept"}]"#
        #expect(try gap(record(3, left: 1, more: kept), items: 3) == nil)
    }

    @Test("the newest import of the same source counts")
    func newestImport_counts() throws {
        let system = try MadeUpSystem([
            "\(ImportRecordTests.folder)/9-gnome-keyring.json": record(9).replacing(":5", with: ":9"),
            "\(ImportRecordTests.folder)/5-gnome-keyring.json": record(3),
            "\(ImportRecordTests.folder)/99-kwallet.json": record(99),
        ])
        #expect(ImportRecord.newest(from: "gnome-keyring", in: system.account())?.items == 9)
        #expect(ImportRecord.newest(from: "kwallet", in: system.account()) == nil)
    }

    @Test("oo7's items are those that an import of gnome-keyring's keyrings has copied")
    func source_oo7_isImportedWithGnomeKeyring() {
        #expect(ImportSource(program: "/usr/libexec/oo7-daemon", items: 1).name == "gnome-keyring")
    }

    @Test("a provider that does not run is known by its files", arguments: ["keyrings", "keyrings/v1"])
    func source_withFiles_isKnown(folder: String) throws {
        let system = try MadeUpSystem([
            "/home/anna/.local/share/\(folder)/login.keyring": "",
            "/home/anna/.local/share/kwalletd/kdewallet.salt": "",
        ])
        let sources = ImportSource.withFiles(in: system.account())
        #expect(sources.map(\.name) == ["gnome-keyring"])
        #expect(sources.first?.gap(in: system.account())?.english == "its items have not been imported")
    }
}
