import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The vault's files, read by another implementation written from docs/file-format.md.
@VaultActor
@Suite struct FileFormatTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    @Test func file_readByAnotherProgram_matchesTheDocument() async throws {
        var configuration = Fixture.configuration(folder, clock: clock)
        configuration.keyDerivation = Argon2id(memoryKiB: 256, iterations: 2, lanes: 2)
        let vault = try await Vault.opened(configuration)
        let login = try await vault.unlockedLogin("pässword")
        let first = try await login.createItem(
            label: "First ☃",
            attributes: ["service": "mail", "": "", "ключ": "значение"],
            secret: Fixture.secret([0, 255, 10], contentType: "application/octet-stream"),
            replacing: false
        ).id
        let second = try await login.add("second", [:], secret: String(repeating: "long", count: 5000))
        let third = try await login.add("third", ["a": "b"])
        clock.advance(seconds: 3)
        try await login.updateItem(first, label: "Changed")
        try await login.updateItem(third, secret: Fixture.secret("new", contentType: ""))
        try await login.deleteItem(second)
        let fourth = try await login.add("fourth", ["n": "4"], secret: "")
        try await login.setLabel("My passwords")
        await vault.close()

        let contents = try await OtherReader(folder).read(passwords: "pässword")
        #expect(contents.label == "My passwords")
        #expect(contents.modified == contents.created + 3_000_000)
        #expect(contents.items.map(\.id) == [first, third, fourth].map(\.rawValue))
        #expect(contents.items.map(\.label) == ["Changed", "third", "fourth"])
        #expect(contents.items.map { item in item.secret ?? "?" } == ["00ff0a", "6e6577", ""])
        #expect(contents.items.map(\.contentType) == ["application/octet-stream", "", "text/plain"])
        #expect(contents.items[0].attributes == ["service": "mail", "": "", "ключ": "значение"])
        #expect(contents.items[0].modified == contents.items[0].created + 3_000_000)
        #expect(contents.items[2].modified == contents.items[2].created)
    }

    @Test func applicationSecret_derivedByAnotherProgram_isTheSame() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        let secret = try login.applicationSecret(for: "org.example.Mail").withUnsafeBytes { Array($0) }
        await vault.close()
        let contents = try await OtherReader(folder).read(passwords: Fixture.password)
        #expect(OtherReader.bytes(hexadecimal: contents.applicationSecret) == secret)
    }

    @Test func file_wrongPassword_opensNothing() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        _ = try await vault.unlockedLogin()
        await vault.close()
        let refusal = await #expect(throws: OtherProgram.Refusal.self) {
            _ = try await OtherReader(folder).read(passwords: "wrong")
        }
        #expect(refusal?.complaints.contains("InvalidTag") == true)
    }

    @Test func protectedItems_readByAnotherProgram_withTheirFactors() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        try await login.add("plain", secret: "plain")
        try await login.protect("userPresence", "a", secret: "daemon")
        try await login.protect("devicePasscode", "b", secret: "passcode")
        try await login.protect("applicationPassword", "c", secret: "own", applicationPassword: "sesame")
        try await login.protect(
            "devicePasscode and applicationPassword or biometryAny and devicePasscode and applicationPassword",
            "d",
            secret: "both",
            applicationPassword: "sesame"
        )
        try await login.protect(
            "devicePasscode or applicationPassword",
            "e",
            secret: "either",
            applicationPassword: "sesame"
        )
        await vault.close()
        let reader = OtherReader(folder)
        func secrets(_ passwords: String...) async throws -> [String?] {
            try await reader.read(passwords: passwords.joined(separator: "\n")).items.map(\.text)
        }
        let password = Fixture.password
        #expect(try await secrets(password) == ["plain", "daemon", nil, nil, nil, nil])
        #expect(try await secrets(password, password) == ["plain", "daemon", "passcode", nil, nil, "either"])
        #expect(try await secrets(password, "", "sesame") == ["plain", "daemon", nil, "own", nil, "either"])
        #expect(
            try await secrets(password, password, "sesame") == ["plain", "daemon", "passcode", "own", "both", "either"]
        )
        await #expect(throws: OtherProgram.Refusal.self) { _ = try await secrets(password, password, "wrong") }
    }

    @Test func itemOfOtherCollection_readByAnotherProgram_needsThePasscodeOfLogin() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        _ = try await vault.unlockedLogin("passcode")
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode", secret: "first")
        let key = try await work.key(of: id, in: vault, passcode: "passcode")
        try await work.updateItem(id, secret: Fixture.secret("second"), key: key)
        try await work.protect(
            "devicePasscode and applicationPassword",
            "b",
            secret: "both",
            applicationPassword: "sesame"
        )
        await vault.close()
        let reader = OtherReader(folder, file: "Work.keychain", login: "login.keychain")
        let contents = try await reader.read(passwords: "own\npasscode\nsesame")
        #expect(contents.items.map(\.text) == ["second", "both"])
        #expect(try await reader.read(passwords: "own").items.map(\.text) == [nil, nil])
    }

    @Test func loginSlot_readByAnotherProgram_hasTheMasterKey() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin("passcode")
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        try await work.add(secret: "kept")
        try await work.addLogin(label: "at logins", openedBy: Fixture.bytes("own"))
        try await login.changePassword(from: Fixture.bytes("passcode"), to: Fixture.bytes("new"))
        await vault.close()
        let reader = OtherReader(folder, file: "Work.keychain", login: "login.keychain")
        #expect(try await reader.read(passwords: "own\nnew").items.map(\.text) == ["kept"])
    }
}
