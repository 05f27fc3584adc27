import KeychaindForeignFiles
import KeychaindTestSupport
import Testing

/// Exports of Bitwarden.
struct BitwardenTests {
    private static let export = """
        {
          "encrypted": false,
          "folders": [{"id": "f1", "name": "Work \\u00e9\\ud83d\\ude00"}],
          "items": [
            {"passwordHistory": null, "revisionDate": "2024-05-06T07:08:09.123Z", "creationDate": "2023-01-01T00:00:00Z",
             "id": "i1", "folderId": "f1", "type": 1, "reprompt": 0, "notes": "a\\nb", "favorite": false,
             "fields": [{"name": "PIN", "value": "1234", "type": 1}],
             "login": {"fido2Credentials": [{"credentialId": "x"}], "uris": [{"match": null, "uri": "https://a"},
               {"uri": "https://b"}], "username": "anna", "password": "p\\"w\\\\\\u0000", "totp": "otpauth://totp/x"},
             "name": "Shop", "collectionIds": null},
            {"type": 2, "name": "Note", "notes": "text", "secureNote": {"type": 0}},
            {"type": 3, "name": "Card", "notes": null, "card": {"number": "4111", "code": "123"}},
            {"type": 4, "name": "Me", "identity": {"firstName": "Anna"}},
            {"type": 1, "name": "Nothing", "login": {"password": null}}
          ]
        }
        """

    @Test("Each secret of an entry becomes an item")
    func export_givesEachSecret() throws {
        let folder = try TemporaryFolder()
        let (items, summary) = try read(folder.write(Self.export, to: "vault.json"))
        #expect(
            items.map(\.label) == [
                "Shop (note)", "Shop (fields)", "Shop", "Shop (totp)", "Note (note)", "Card (card)", "Me (identity)",
            ]
        )
        #expect(
            items.map(\.text) == [
                "a\nb", "[{\"name\": \"PIN\", \"value\": \"1234\", \"type\": 1}]", "p\"w\\\u{0}", "otpauth://totp/x",
                "text",
                "{\"number\": \"4111\", \"code\": \"123\"}", "{\"firstName\": \"Anna\"}",
            ]
        )
        #expect(
            items[2].attributes == [
                "xdg:schema": "org.keychaind.ImportedLogin", "field": "password", "url": "https://a",
                "url-2": "https://b", "username": "anna", "folder": "Work é😀", "guid": "i1",
            ]
        )
        #expect(items[2].created == 1_672_531_200 && items[2].modified == 1_714_979_289)
        #expect(items[5].contentType == "application/json" && items[2].contentType == "text/plain")
        #expect(summary.losses.map(\.item) == ["Shop", "Nothing"] && summary.unknown.isEmpty)
    }

    @Test("A member with an unknown name is a secret, and is named with its count")
    func unknownMembers_areSecretsOfTheirOwn() throws {
        let folder = try TemporaryFolder()
        let export = """
            {"encrypted": false, "folders": [], "sends": [{"text": "t"}], "items": [
              {"type": 9, "name": "A", "recovery": "x y", "login": {"password": "pw", "pin": 12,
               "uris": [{"match": null, "uri": "https://a", "realm": "r"}]}},
              {"recovery": "z", "attachments": [], "name": "B", "notes": null, "": true, "ssn": {}, "empty": ""}]}
            """
        let (items, summary) = try read(folder.write(export, to: "vault.json"))
        #expect(
            items.map(\.label) == [
                "vault (sends)", "A (recovery)", "A", "A (login.pin)", "A (login.uris.realm)", "B (recovery)",
                "B (member)",
            ]
        )
        #expect(items.map(\.text) == ["[{\"text\": \"t\"}]", "x y", "pw", "12", "r", "z", "true"])
        #expect(
            summary.unknown == ["sends": 1, "recovery": 2, "login.pin": 1, "login.uris.realm": 1, "member": 1]
                && summary.losses.isEmpty
        )
    }

    @Test("An encrypted export is refused, and the message says which to make")
    func encryptedExport_isRefused() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            "{\"encrypted\": true, \"passwordProtected\": true, \"data\": \"2.x\"}",
            to: "e.json"
        )
        let error = #expect(throws: ForeignFileError.self) { try read(path) }
        #expect(error?.code == .unsupported && error?.message.contains("not “.json (Encrypted)”") == true)
    }

    @Test("No damaged export crashes the reader")
    func export_damaged_doesNotCrash() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.export, to: "vault.json")
        try folder.tryDamaged("vault.json", stride: 3)
    }

    @Test("Deep nesting is refused", arguments: ["[", "{\"a\":"])
    func export_deepNesting_isRefused(bracket: String) throws {
        let folder = try TemporaryFolder()
        let text = "{\"encrypted\": false, \"x\": " + String(repeating: bracket, count: 100_000)
        #expect(try failure(folder.write(text, to: "deep.json")) == .damaged)
    }
}
