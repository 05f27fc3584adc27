import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Rows that are read before their key is known, and opened by two threads.
@VaultActor
@Suite struct RowsAheadTests {
    private let folder = TemporaryFolder()
    // Many parts of the size that a thread takes at a time.
    private nonisolated static let count = 48

    private func attributes(_ number: UInt64) -> Attributes {
        // One of them is larger than a part.
        let size = number == 20 ? 200_000 : 20_000
        return ["n": "\(number)", "big": String(repeating: "\(number % 10)", count: size)]
    }

    /// Creates a closed vault; some have labels, attributes and secrets of any size.
    private func prepare() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        for number in 1...UInt64(Self.count) {
            let label = number == 20 ? String(repeating: "l", count: 64 * 1024) : "label \(number)"
            let secret = String(repeating: "s", count: number.isMultiple(of: 7) ? 10_000 : Int(number))
            try await login.add(label, attributes(number), secret: secret)
        }
        await vault.close()
    }

    private func opened(early: Bool) async throws -> (Vault, Collection) {
        let vault = Vault(Fixture.configuration(folder))
        if early {
            let unlock = EarlyUnlock()
            try unlock.use(Fixture.bytes(Fixture.password))
            try await vault.open(for: unlock)
        } else {
            try await vault.open()
        }
        return (vault, try await vault.unlockedLogin())
    }

    private func expectIntact(_ id: ItemID, in login: Collection) async throws {
        let number = id.rawValue
        let item = login.item(id)
        #expect(item?.condition == .intact)
        #expect(item?.attributes == attributes(number))
        #expect(item?.label == (number == 20 ? String(repeating: "l", count: 64 * 1024) : "label \(number)"))
        #expect(login.search(["n": "\(number)"]) == [id])
        let secret = try await login.content(of: id)
        #expect(secret.count == (number.isMultiple(of: 7) ? 10_000 : Int(number)))
    }

    @Test(arguments: [false, true])
    func allRows_areOpened(early: Bool) async throws {
        try await prepare()
        let (vault, login) = try await opened(early: early)
        #expect(login.problem == nil)
        #expect(login.itemCount == Self.count)
        for id in login.itemIDs { try await expectIntact(id, in: login) }
        // The sum over the rows is right, so a change keeps them whole.
        try await login.deleteItem(#require(login.itemIDs.first))
        await vault.close()
        let (again, reopened) = try await opened(early: early)
        #expect(reopened.problem == nil)
        #expect(reopened.itemCount == Self.count - 1)
        await again.close()
    }

    @Test(arguments: [1, 20, 24, 25, 47, 48] as [UInt64], [false, true])
    func damagedRow_inAnyPart_isReported_andTheOthersAreIntact(number: UInt64, early: Bool) async throws {
        try await prepare()
        try RawDatabase(folder.file("login.keychain")).execute(
            "UPDATE item SET metadata = substr(metadata, 1, length(metadata) - 1) WHERE id = \(number)"
        )
        let (vault, login) = try await opened(early: early)
        #expect(login.problem?.contains("1 of its items is damaged") == true)
        let report = try await vault.check("keychain:login", nil)
        #expect(report.findings.contains("1 of its items is damaged: number \(number)"))
        for id in login.itemIDs where id.rawValue != number { try await expectIntact(id, in: login) }
        guard case .damaged = login.item(try #require(ItemID(rawValue: number)))?.condition else {
            Issue.record("item \(number) passes for intact")
            return
        }
        await vault.close()
    }

    @Test(arguments: [false, true])
    func removedRow_isReported(early: Bool) async throws {
        try await prepare()
        try RawDatabase(folder.file("login.keychain")).execute("DELETE FROM item WHERE id = 48")
        let (vault, login) = try await opened(early: early)
        #expect(login.problem?.contains("removed") == true)
        #expect(login.itemCount == Self.count - 1)
        await vault.close()
    }

    @Test func protectedItems_inAnyPart_stayProtected() async throws {
        var vault = try await Vault.opened(Fixture.configuration(folder))
        var login = try await vault.unlockedLogin()
        for number in 1...UInt64(Self.count) {
            let protected = attributes(number).setting(ReservedAttribute.accessControl.rawValue, to: "userPresence")
            try await login.add("label", number.isMultiple(of: 3) ? protected : attributes(number))
        }
        await vault.close()
        (vault, login) = try await opened(early: true)
        for id in login.itemIDs {
            #expect(login.protection(of: id).needsAuthentication == id.rawValue.isMultiple(of: 3))
        }
        await vault.close()
    }
}
