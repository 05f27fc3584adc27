import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// The stamps of sandboxed programs on items, and the records of these programs.
@VaultActor
@Suite struct StampTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()
    private static let mail = "flatpak:org.example.Mail"
    private static let bank = "flatpak:org.example.Bank"

    private func login() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder, clock: clock))
        return (vault, try await vault.unlockedLogin())
    }

    @Test func update_otherStampOrNone_keepsTheStamp() async throws {
        let (vault, login) = try await login()
        let id = try await login.add("own", ["a": "1", Attributes.program: Self.mail])
        try await login.updateItem(id, attributes: ["a": "2", Attributes.program: Self.bank])
        #expect(login.item(id)?.attributes == ["a": "2", Attributes.program: Self.mail])
        _ = try await login.add("new", ["a": "2"], replacing: true)
        #expect(login.item(id)?.attributes == ["a": "2", Attributes.program: Self.mail])
        let free = try await login.add("free", ["b": "1"])
        try await login.updateItem(free, attributes: ["b": "1", Attributes.program: Self.bank])
        #expect(login.item(free)?.attributes == ["b": "1"])
        await vault.close()
    }

    @Test func replace_onlyOwn_leavesOthers() async throws {
        let (vault, login) = try await login()
        let other = try await login.add("other", ["a": "1", Attributes.program: Self.bank])
        let own = try vault.stamp(of: Self.mail).attribute
        #expect(login.itemToReplace(["a": "1"], having: own) == nil)
        #expect(login.itemToReplace(["a": "1"]) == other)
        func put(_ secret: String) async throws -> ItemCreation {
            try await login.createItem(
                label: "own",
                attributes: ["a": "1", Attributes.program: Self.mail],
                secret: Fixture.secret(secret),
                replacing: true,
                having: own
            )
        }
        let created = try await put("first")
        #expect(created != .replaced(other))
        #expect(try await put("second") == .replaced(created.id))
        #expect(try await login.content(of: other) == Array("secret".utf8))
        await vault.close()
    }

    @Test func stamp_givesAnItemOnce_andKeepsItsTimes() async throws {
        let (vault, login) = try await login()
        let id = try await login.add("item", ["a": "1"])
        let modified = login.item(id)?.modified
        clock.advance(seconds: 5)
        try await login.stamp(id, for: Self.mail)
        try await login.stamp(id, for: Self.mail)
        #expect(login.item(id)?.attributes[Attributes.program] == Self.mail)
        #expect(login.item(id)?.modified == modified)
        await #expect(throws: VaultError.of(.notSupported)) { try await login.stamp(id, for: Self.bank) }
        await vault.close()
    }

    @Test func hasStamp_beforeTheFirstUnlock_isKnownByTheTag() async throws {
        let (vault, login) = try await login()
        let own = try await login.add("own", ["a": "1", Attributes.program: Self.mail])
        let other = try await login.add("other", ["a": "1"])
        await vault.close()
        let reopened = try await Vault.opened(Fixture.configuration(folder, clock: clock))
        let locked = try #require(reopened.collection(named: .login))
        let stamp = try reopened.stamp(of: Self.mail)
        #expect(locked.hasStamp(stamp, of: own) && !locked.hasStamp(stamp, of: other))
        #expect(locked.search(["a": "1", Attributes.program: Self.mail]) == [own])
        await reopened.close()
    }

    @Test func records_moreThanAreRead_keepWhatPersonsHaveChosen() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let names = (1...2 * SandboxRecord.limit).map { number in "flatpak:org.example.App\(number)" }
        var records = Dictionary(uniqueKeysWithValues: names.map { name in (name, SandboxRecord(.limited)) })
        // The last by name.
        records["snap:mail"] = SandboxRecord(.open)
        try await vault.record(records, since: Timestamp(seconds: 7))
        let read = try await vault.sandboxRecords().programs
        #expect(read.count == 2 * SandboxRecord.limit && read["snap:mail"]?.state == .open)
        await vault.close()
    }

    @Test func records_lastUntilTheFileIsLost_andAreThenNotMadeAgain() async throws {
        var vault = try await Vault.opened(Fixture.configuration(folder))
        #expect(try await vault.sandboxRecords().since == nil)
        let (now, record) = (Timestamp(seconds: 7), SandboxRecord(.unconfirmed, lastCall: Timestamp(seconds: 9)))
        try await vault.record([Self.mail: record, Self.bank: SandboxRecord(.limited)], since: now)
        await vault.close()
        vault = try await Vault.opened(Fixture.configuration(folder))
        let records = try await vault.sandboxRecords()
        #expect(records.since == now)
        #expect(records.programs == [Self.mail: record, Self.bank: SandboxRecord(.limited)])
        await vault.close()
        try folder.write(Array("no log at all".utf8), to: "state")
        vault = try await Vault.opened(Fixture.configuration(folder))
        #expect(try await vault.sandboxRecords().programs.isEmpty)
        // Otherwise every installed sandbox would see everything again.
        #expect(try await vault.sandboxRecords().since != nil)
        await vault.close()
    }
}
