import Foundation
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Damage of a file in use, which a check or a copy finds: it is told at once, and costs nothing that is in memory.
@VaultActor
@Suite struct FoundDamageTests {
    private let folder = TemporaryFolder()
    private let home = TemporaryFolder()
    private let clock = TestClock()
    private let check = "keychain:login"
    private let file = "login.keychain"

    private var backups: BackupFolder { BackupFolder(in: home.path) }

    /// What is damaged of the second item.
    enum Damage: CaseIterable {
        case metadata, secret
        /// Its page, with all other items.
        case page
    }

    private func opened(generations: Int = 0) async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock, generations: generations))
    }

    /// Makes a closed keychain with three items; the sizes are those of their secrets.
    private func prepare(sizes: [Int] = [10, 10, 10]) async throws -> [ItemID] {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var ids: [ItemID] = []
        for (number, size) in sizes.enumerated() {
            let secret = String(repeating: "\(number)", count: size)
            ids.append(try await login.add("label \(number)", ["n": "\(number)"], secret: secret))
        }
        await vault.close()
        #expect(!folder.names.contains("login.keychain-wal"))
        return ids
    }

    /// The place of a column in the file of a closed keychain.
    private func place(of column: String, _ id: ItemID) throws -> Int {
        let hex = try RawDatabase(folder.file(file)).text("SELECT hex(\(column)) FROM item WHERE id = \(id.rawValue)")
        let digits = Array(hex.utf8.prefix(64))
        let bytes = try stride(from: 0, to: digits.count, by: 2).map { index in
            try #require(UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16))
        }
        return try #require(folder.bytes(of: file).firstRange(of: bytes)).lowerBound
    }

    /// Writes into the file while it is in use, as a disk may lose what it had.
    private func overwrite(_ place: Int, _ bytes: [UInt8]) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: folder.file(file)))
        try handle.seek(toOffset: UInt64(place))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    private func damage(_ place: Int, _ damage: Damage = .secret) throws {
        let pageSize = 4096
        switch damage {
        case .metadata, .secret: try overwrite(place + 8, [UInt8](repeating: 0, count: 8))
        case .page: try overwrite(place / pageSize * pageSize, [UInt8](repeating: 0, count: pageSize))
        }
    }

    private func expectAll(_ ids: [ItemID], in login: Vault.Login) async throws {
        #expect(login.itemIDs == ids)
        for (number, id) in ids.enumerated() {
            #expect(login.item(id)?.condition == .intact && login.search(["n": "\(number)"]) == [id])
            #expect(try await login.content(of: id) == Array(String(repeating: "\(number)", count: 10).utf8))
        }
    }

    @Test(arguments: Damage.allCases)
    func damageFoundByACheck_isToldAtOnce_andASalvageKeepsWhatMemoryHas(_ kind: Damage) async throws {
        let ids = try await prepare()
        let place = try place(of: kind == .secret ? "secret" : "metadata", ids[1])
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        await #expect(throws: VaultError.of(.notSupported)) { _ = try await vault.salvage(login) }
        var told: [String?] = []
        vault.onProblem = { name in told.append(vault.collection(named: name)?.problem) }
        try damage(place, kind)
        let damaged = try folder.bytes(of: file)
        for _ in 1...2 {
            #expect(try await !vault.check(check, nil).isSound)
            // Told once.
            #expect(told == [login.problem])
            #expect(login.hasProblem && login.problem?.contains("keychainctl salvage") == true)
            try await expectAll(ids, in: login)
        }
        let problem = login.problem
        login.lock()
        #expect(login.problem == problem)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        let (report, new) = try await vault.salvage(login)
        #expect(report.kept == 3 && report.fromMemory == (kind == .page ? 3 : 1) && report.damaged == 0)
        #expect(try folder.bytes(of: report.oldFile) == damaged)
        #expect(new.problem == nil && !new.canBeSalvaged)
        #expect(try await vault.check(check, nil).isSound)
        try await expectAll(ids, in: new)
        await vault.close()
        let next = try await opened()
        let again = try await next.unlockedLogin()
        #expect(again.problem == nil)
        try await expectAll(ids, in: again)
        await next.close()
    }

    @Test func largeSecret_isKeptWithMetadataFromMemory_unlessItIsDamagedItself() async throws {
        let ids = try await prepare(sizes: [10, 20_000, 20_000])
        let places = try (place(of: "metadata", ids[1]), place(of: "secret", ids[2]))
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try damage(places.0)
        try damage(places.1)
        #expect(try await vault.check(check, nil).intact == 1)
        let (report, new) = try await vault.salvage(login)
        #expect(report.kept == 2 && report.fromMemory == 1 && report.damaged == 1)
        #expect(new.itemIDs == Array(ids.prefix(2)) && new.item(ids[1])?.label == "label 1")
        #expect(try await new.content(of: ids[1]) == [UInt8](repeating: UInt8(ascii: "1"), count: 20_000))
        await vault.close()
    }

    @Test func damageFoundByABackup_isTold() async throws {
        let ids = try await prepare()
        let place = try place(of: "secret", ids[1])
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try damage(place)
        await #expect(throws: VaultError.of(.unreadable)) { try await vault.backUp(.login, to: backups) }
        #expect(login.canBeSalvaged && login.problem?.contains("keychainctl salvage") == true)
        let new = try await vault.salvage(login).collection
        try await vault.backUp(.login, to: backups)
        #expect(new.problem == nil)
        await vault.close()
    }

    @Test func damageFoundByTheCopyOfADay_isTold_andTheChangeIsStored() async throws {
        var ids = try await prepare()
        let place = try place(of: "secret", ids[1])
        let vault = try await opened(generations: 3)
        let login = try await vault.unlockedLogin()
        // The check leaves the file closed as it is damaged, so that the change does not find another program's traces.
        try damage(place)
        login.lock()
        #expect(try await vault.check(check, nil).depth == .metadata)
        #expect(login.problem == nil)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        ids.append(try await login.add("label 3", ["n": "3"], secret: String(repeating: "3", count: 10)))
        #expect(login.canBeSalvaged && login.problem?.contains("keychainctl salvage") == true)
        #expect(folder.names(in: "generations").isEmpty)
        try await expectAll(ids, in: login)
        try await expectAll(ids, in: vault.salvage(login).collection)
        await vault.close()
    }

    @Test func forgedRevision_isNotThatOfTheSalvagedKeychain() async throws {
        let ids = try await prepare()
        try RawDatabase(folder.file(file)).execute("UPDATE item SET revision = -1 WHERE id = \(ids[1].rawValue)")
        let vault = try await opened()
        let (report, new) = try await vault.salvage(vault.unlockedLogin())
        #expect(report.kept == 2 && report.damaged == 1)
        let next = try await new.add("next")
        await vault.close()
        let last = try RawDatabase(folder.file(file)).text("SELECT id FROM item ORDER BY revision DESC LIMIT 1")
        #expect(last == "\(next.rawValue)")
    }

    @Test func checkThatFindsTheFileSound_endsTheProblem_unlessItLooksLessDeep() async throws {
        let ids = try await prepare()
        let place = try place(of: "secret", ids[1])
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try damage(place)
        #expect(try await !vault.check(check, nil).isSound)
        // Without the key of the secrets.
        login.lock()
        #expect(try await vault.check(check, nil).isSound)
        #expect(login.problem != nil)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await login.updateItem(ids[1], secret: Fixture.secret("new"))
        #expect(try await vault.check(check, nil).isSound)
        #expect(login.problem == nil && !login.hasProblem && !login.canBeSalvaged)
        await vault.close()
    }

    @Test func damagedCopies_areNoProblemOfTheKeychain() async throws {
        _ = try await prepare()
        let vault = try await opened(generations: 3)
        let login = try await vault.unlockedLogin()
        try await login.add("new", ["n": "new"])
        try await vault.backUp(.login, to: backups)
        let generation = try #require(folder.names(in: "generations").first)
        try folder.write([UInt8](repeating: 1, count: 8192), to: "generations/" + generation)
        try home.write([UInt8](repeating: 1, count: 8192), to: "keychaind/backup/login.keychain")
        for copy in ["generation:" + generation, "backup:login.keychain"] {
            #expect(try await !vault.check(copy, backups).isSound)
            #expect(login.problem == nil && !login.canBeSalvaged)
        }
        await vault.close()
    }

    @Test func salvageThatFails_leavesWhatIsInMemory() async throws {
        let ids = try await prepare()
        let place = try place(of: "metadata", ids[1])
        let vault = try await opened()
        var login = try await vault.unlockedLogin()
        try damage(place)
        #expect(try await !vault.check(check, nil).isSound)
        // In the place of the new file.
        try folder.makeFolder("login.keychain-new")
        await #expect(throws: VaultError.self) { _ = try await vault.salvage(login) }
        login = try #require(vault.collection(named: .login))
        #expect(login.state == .unlocked && login.canBeSalvaged)
        try await expectAll(ids, in: login)
        folder.remove("login.keychain-new")
        let (report, new) = try await vault.salvage(login)
        #expect(report.kept == 3 && report.fromMemory == 1 && new.problem == nil)
        try await expectAll(ids, in: new)
        await vault.close()
    }
}
