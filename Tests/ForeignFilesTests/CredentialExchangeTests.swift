import KeychaindForeignFiles
import KeychaindTestSupport
import Testing

/// Files in FIDO's Credential Exchange Format.
struct CredentialExchangeTests {
    private static let file = """
        {
          "version": {"major": 1, "minor": 0}, "exporterRpId": "manager.example", "exporterDisplayName": "Manager",
          "timestamp": 1,
          "accounts": [{"id": "YQ", "username": "", "email": "", "collections": [], "items": [
            {"id": "i1", "creationAt": 1700000000, "modifiedAt": 1700000001, "subtitle": "s", "favorite": true,
             "credentials": [
               {"password": {"fieldType": "concealed-string", "value": "pw"}, "type": "basic-auth",
                "username": {"fieldType": "string", "value": "anna"}},
               {"type": "totp", "secret": "JBSWY3DP", "period": 60, "digits": 8, "username": "a b", "algorithm": "sha256",
                "issuer": "Shop"},
               {"type": "note", "content": {"fieldType": "string", "value": "text"}},
               {"type": "basic-auth", "username": {"value": "bert"}, "password": {"value": "second"}},
               {"type": "passkey", "credentialId": "x", "key": "y"},
               {"type": "teleport", "beam": {"value": 1}}
             ],
             "scope": {"urls": ["https://a", "https://b"], "androidApps": []}, "tags": ["x", "y"], "title": "Shop"},
            {"id": "i2", "title": "Nothing", "credentials": []}
          ]}]
        }
        """

    @Test("Passwords, notes and secrets of one-time passwords become items; other credentials keep their JSON")
    func file_givesEachSecret() throws {
        let folder = try TemporaryFolder()
        let (items, summary) = try read(folder.write(Self.file, to: "credentials.json"))
        #expect(
            items.map(\.text) == [
                "pw", "otpauth://totp/Shop:a%20b?secret=JBSWY3DP&period=60&digits=8&algorithm=SHA256&issuer=Shop",
                "text", "second", "{\"type\": \"teleport\", \"beam\": {\"value\": 1}}",
            ]
        )
        #expect(items.map { $0.attributes["field"] } == ["password", "totp", "note", "password-2", "teleport"])
        #expect(
            items[0].attributes == [
                "xdg:schema": "org.keychaind.ImportedLogin", "field": "password", "url": "https://a",
                "url-2": "https://b", "username": "anna", "tags": "x;y", "guid": "i1", "subtitle": "s",
            ]
        )
        #expect(items[0].label == "Shop" && items[0].created == 1_700_000_000 && items[0].modified == 1_700_000_001)
        #expect(items[3].attributes["username"] == "bert" && items[4].contentType == "application/json")
        #expect(summary.losses.map(\.item) == ["Shop", "Nothing"] && summary.unknown.isEmpty)
    }

    @Test("A member with an unknown name is a secret, and is named with its count")
    func unknownMembers_areSecretsOfTheirOwn() throws {
        let folder = try TemporaryFolder()
        let file = """
            {"exporterRpId": "manager.example", "later": "x", "accounts": [{"vault": [1], "extensions": [], "items": [
              {"title": "A", "extensions": [{"name": "shared"}], "credentials": [
                {"type": "basic-auth", "password": {"value": "pw"}, "hint": {"value": "h"}},
                {"type": "note", "content": {"value": "n"}, "hint": null}, {"type": "totp", "secret": "S", "pin": 4}]},
              {"title": "B", "extensions": "e", "credentials": []}]}]}
            """
        let (items, summary) = try read(folder.write(file, to: "credentials.json"))
        #expect(
            items.map(\.label) == [
                "credentials (later)", "credentials (accounts.vault)", "A (extensions)", "A", "A (basic-auth.hint)",
                "A (note)", "A (totp)", "A (totp.pin)", "B (extensions)",
            ]
        )
        #expect(items.map(\.text)[2...4] == ["[{\"name\": \"shared\"}]", "pw", "{\"value\": \"h\"}"])
        #expect(
            summary.unknown == [
                "later": 1, "accounts.vault": 1, "extensions": 2, "basic-auth.hint": 1, "totp.pin": 1,
            ]
        )
        #expect(summary.losses.isEmpty)
    }

    @Test("A file that is cut off or changed anywhere, or nested too deeply, does not crash")
    func file_damaged_doesNotCrash() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(Self.file, to: "credentials.json")
        try folder.tryDamaged("credentials.json", stride: 7)
        let deep = "{\"exporterRpId\": \"a\", \"accounts\": " + String(repeating: "[", count: 100_000)
        #expect(try failure(folder.write(deep, to: "deep.json")) == .damaged)
    }
}
