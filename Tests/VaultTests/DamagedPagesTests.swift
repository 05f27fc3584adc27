import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// One bad page of a file with many small items: every intact item is read, the rest is named, and nothing is changed.
@VaultActor
@Suite struct DamagedPagesTests {
    enum Damage: CaseIterable {
        case zeroed, random, oneBit
    }

    private static let count = 500
    private static let pageSize = 4096

    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func opened(_ folder: TemporaryFolder) async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock, generations: 3))
    }

    /// Makes a keychain with many items, one of them protected, and a generation of it.
    private func prepare(count: Int = DamagedPagesTests.count) async throws {
        let vault = try await opened(folder)
        let login = try await vault.unlockedLogin()
        let additions = (1...count).map { number in
            Task { @VaultActor in try await login.add("label \(number)", ["n": "\(number)"], secret: "s\(number)") }
        }
        for addition in additions { _ = try await addition.value }
        let id = try #require(login.search(["n": "3"]).first)
        try await login.updateItem(id, attributes: .protected("userPresence").setting("n", to: "3"))
        clock.advance(seconds: 24 * 60 * 60)
        try await login.updateItem(#require(login.search(["n": "2"]).first), label: "label 2")
        #expect(login.protectedCount == 1)
        await vault.close()
        #expect(!folder.names.contains("login.keychain-wal"))
    }

    /// The rows in each page, by SQLite's own account of the intact file.
    private func rows(in bytes: [UInt8], page: Int) -> Int {
        let start = page == 1 ? 100 : (page - 1) * Self.pageSize
        return bytes[start] == 13 ? Int(bytes[start + 3]) << 8 | Int(bytes[start + 4]) : 0
    }

    private func damage(_ whole: [UInt8], page: Int, _ damage: Damage) -> [UInt8] {
        var bytes = whole
        let range = (page - 1) * Self.pageSize..<page * Self.pageSize
        var generator = SeededGenerator(seed: UInt64(page))
        switch damage {
        case .zeroed: for index in range { bytes[index] = 0 }
        case .random: for index in range { bytes[index] = .random(in: 0...255, using: &generator) }
        case .oneBit: bytes[.random(in: range, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
        return bytes
    }

    /// Checks each item that passes for intact, and returns their number.
    private func intact(_ login: Vault.Login) async throws -> Int {
        var intact = 0
        for id in login.itemIDs {
            guard let item = login.item(id), item.condition == .intact else { continue }
            let number = try #require(item.attributes["n"])
            #expect(item.label == "label \(number)" && login.search(["n": number]) == [id])
            guard let content = try? await login.content(of: id) else { continue }
            #expect(content == Array("s\(number)".utf8))
            intact += 1
        }
        return intact
    }

    @Test(arguments: Damage.allCases)
    func damagedPage_costsNoOtherItem_andNothingIsChanged(_ kind: Damage) async throws {
        try await prepare()
        let whole = try folder.bytes(of: "login.keychain")
        var lost = 0
        for page in 1...whole.count / Self.pageSize {
            let bytes = damage(whole, page: page, kind)
            try folder.write(bytes, to: "login.keychain")
            let vault = try await opened(folder)
            let login = try await vault.unlockedLogin()
            let intact = try await intact(login)
            #expect(intact >= Self.count - rows(in: whole, page: page), "page \(page)")
            lost += Self.count - intact
            if intact < Self.count {
                #expect(login.problem?.contains("keychainctl salvage") == true)
                // A reader of part of the file learns so, and every other protection stands.
                #expect(login.search(["n": "3"]).isEmpty || login.hasProtectedItems)
            }
            if login.problem?.contains("nothing is changed") == true {
                await #expect(throws: VaultError.of(.unreadable)) { try await login.add("new") }
                await #expect(throws: VaultError.of(.unreadable)) { try await login.deleteItem(login.itemIDs[0]) }
                await #expect(throws: VaultError.of(.unreadable)) { try await vault.delete(login) }
                await vault.close()
                #expect(try folder.bytes(of: "login.keychain") == bytes, "page \(page)")
            } else {
                await vault.close()
            }
            folder.remove("login.keychain-wal")
            folder.remove("login.keychain-shm")
        }
        #expect(lost <= Self.count + 10)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 20])
    func salvage_makesASoundKeychain_ofWhatIsIntact(page: Int) async throws {
        try await prepare()
        let whole = try folder.bytes(of: "login.keychain")
        let bytes = damage(whole, page: page, .zeroed)
        try folder.write(bytes, to: "login.keychain")
        var vault = try await opened(folder)
        var login = try await vault.unlockedLogin()
        let before = try await intact(login)
        let (report, new) = try await vault.salvage(login)
        #expect(report.kept == before && new.state == .unlocked && vault.collection(named: .login) === new)
        #expect(try folder.bytes(of: report.oldFile) == bytes)
        #expect(try await intact(new) == before)
        #expect(new.problem == nil)
        try await new.add("new", ["n": "new"], secret: "snew")
        await #expect(throws: VaultError.of(.notSupported)) { _ = try await vault.salvage(new) }
        await vault.close()
        vault = try await opened(folder)
        login = try await vault.unlockedLogin()
        #expect(login.itemCount == before + 1 && login.problem == nil)
        #expect(login.search(["n": "3"]).isEmpty || login.protectedCount == 1)
        for file in try await vault.checkableFiles(nil) {
            let report = try await vault.check(file, nil)
            #expect(report.isSound, "\(file): \(report.findings)")
        }
        await vault.close()
    }

    @Test func protectionThatTheLedgerHas_survivesDamageAndSalvage() async throws {
        try await prepare(count: 20)
        let whole = try folder.bytes(of: "login.keychain")
        for page in 1...whole.count / Self.pageSize {
            let copy = try folder.snapshot()
            copy.remove("state.db")
            try copy.write(damage(whole, page: page, .zeroed), to: "login.keychain")
            var vault = try await opened(copy)
            var login = try await vault.unlockedLogin()
            guard login.problem?.contains("lost") == true else {
                await vault.close()
                continue
            }
            // Without a ledger it is unknown what was protected.
            let doubtful = login.protectedCount
            #expect(doubtful == login.itemCount)
            login = try await vault.salvage(login).collection
            #expect(login.protectedCount == doubtful)
            await vault.close()
            vault = try await opened(copy)
            #expect(try await vault.unlockedLogin().protectedCount == doubtful)
            await vault.close()
        }
    }

    @Test func lostItems_areNamedByTheCheck() async throws {
        try await prepare()
        let whole = try folder.bytes(of: "login.keychain")
        let page = try #require((5...whole.count / Self.pageSize).first { page in rows(in: whole, page: page) > 3 })
        try folder.write(damage(whole, page: page, .random), to: "login.keychain")
        let vault = try await opened(folder)
        let login = try #require(vault.collection(named: .login))
        var report = try await vault.check("keychain:login", nil)
        #expect(!report.isSound && report.depth == .structure)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        let lost = Self.count - login.itemCount
        #expect(lost == rows(in: whole, page: page))
        report = try await vault.check("keychain:login", nil)
        #expect(report.findings.filter { finding in finding.contains("“label ") }.count == lost)
        #expect(report.items == login.itemCount)
        for id in ["keychain:none", "generation:../x", "backup:none.keychain", "none"] {
            await #expect(throws: VaultError.of(.unreadable), "\(id)") { _ = try await vault.check(id, nil) }
        }
        await vault.close()
    }

    @Test func lostItems_areNamedByTheCheck_withTheNewestCopy() async throws {
        let home = TemporaryFolder()
        let backups = BackupFolder(in: home.path)
        try await prepare(count: 60)
        var vault = try await opened(folder)
        var login = try await vault.unlockedLogin()
        for number in 61...90 { try await login.add("label \(number)", ["n": "\(number)"], secret: "s\(number)") }
        try await vault.backUp(.login, to: backups)
        await vault.close()
        let whole = try folder.bytes(of: "login.keychain")
        let pages = (5...whole.count / Self.pageSize).filter { page in rows(in: whole, page: page) > 3 }
        // One with items that the generation has, too, and one with items that only the backup has.
        let first = damage(whole, page: try #require(pages.first), .zeroed)
        try folder.write(damage(first, page: try #require(pages.last), .zeroed), to: "login.keychain")
        vault = try await opened(folder)
        login = try #require(vault.collection(named: .login))
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        let lost = 90 - login.itemCount
        #expect(lost > 0)
        let findings = try await vault.check("keychain:login", backups).findings
        #expect(findings.count { $0.hasSuffix("; backup:login.keychain has it") } == lost, "\(findings)")
        #expect(!findings.contains { $0.contains("generation:") }, "\(findings)")
        #expect(!folder.names.contains { $0.hasPrefix("restore-") })
        await vault.close()
    }

    @Test func changesInTheJournalOnly_areRead() async throws {
        try await prepare(count: 100)
        let vault = try await opened(folder)
        let login = try await vault.unlockedLogin()
        for number in 200..<220 { try await login.add("label \(number)", ["n": "\(number)"], secret: "s\(number)") }
        let copy = try folder.snapshot()
        await vault.close()
        var bytes = try copy.bytes(of: "login.keychain")
        // The schema is lost, so nothing but the pages themselves can be read.
        for index in 0..<Self.pageSize { bytes[index] = 0 }
        try copy.write(bytes, to: "login.keychain")
        let journal = try copy.bytes(of: "login.keychain-wal")
        #expect(journal.contains { byte in byte != 0 })
        let damaged = try await opened(copy)
        let again = try await damaged.unlockedLogin()
        #expect(try await intact(again) == 120)
        #expect(try await damaged.salvage(again).report.kept == 120)
        await damaged.close()
        #expect(copy.names.contains { name in name.contains(".unreadable-") && name.hasSuffix("-wal") })
    }

    @Test func flippedByte_ofTheHeader_isTold_withTheWayBack() async throws {
        try await prepare(count: 5)
        let whole = try folder.bytes(of: "login.keychain")
        let path = folder.file("login.keychain")
        let root = try #require(Int(RawDatabase(path).text("SELECT rootpage FROM sqlite_schema WHERE name = 'header'")))
        let page = (root - 1) * Self.pageSize..<root * Self.pageSize
        let used = Array(page).filter { index in whole[index] != 0 }
        for (position, index) in used.enumerated().sample(oneIn: 8) {
            var bytes = whole
            bytes[index] ^= 1 << UInt8(position % 8)
            try folder.write(bytes, to: "login.keychain")
            for name in ["login.keychain-wal", "login.keychain-shm"] { folder.remove(name) }
            // With its generations, and without.
            for hasGenerations in [true, false] {
                let copy = try folder.snapshot()
                if !hasGenerations { copy.remove("generations") }
                let vault = try await opened(copy)
                let login = try #require(vault.collection(named: .login))
                _ = try? await login.unlock(with: Fixture.bytes(Fixture.password))
                if login.state == .unlocked {
                    #expect(try await intact(login) == 5, "byte \(index)")
                } else {
                    #expect(!hasGenerations, "byte \(index)")
                    #expect(login.problem?.contains("keychainctl restore") == true, "byte \(index)")
                }
                await vault.close()
            }
        }
    }
}

extension Collection {
    /// The number of items that need authentication.
    fileprivate var protectedCount: Int { itemIDs.count { id in protection(of: id).needsAuthentication } }
}
