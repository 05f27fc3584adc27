import Foundation
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Damage of a file in use, which a check or a copy finds: it is told at once, and costs nothing that is in memory.
@VaultActor
@Suite struct FoundDamageTests {
    private let folder = TemporaryFolder()
    private let home = TemporaryFolder()
    private let check = "keychain:login"

    private var backups: BackupFolder { BackupFolder(in: home.path) }

    /// What is damaged of the second item.
    enum Damage: CaseIterable {
        case metadata, secret, header
        /// All three items.
        case all
    }

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    /// Makes an open keychain with three items; the sizes are those of their secrets.
    private func prepare(sizes: [Int] = [10, 10, 10]) async throws -> (Vault, Vault.Login, [ItemID]) {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var ids: [ItemID] = []
        for (number, size) in sizes.enumerated() {
            let secret = String(repeating: "\(number)", count: size)
            ids.append(try await login.add("label \(number)", ["n": "\(number)"], secret: secret))
        }
        return (vault, login, ids)
    }

    private func damage(_ damage: Damage, of ids: [ItemID], _ index: Int = 1) throws {
        let image = try folder.image()
        let frame = try image.last(LogImage.item, ids[index].rawValue)
        switch damage {
        case .metadata: try folder.overwrite(frame.metadata.prefix(8), with: 0)
        case .secret: try folder.overwrite(frame.secret.prefix(8))
        case .header: try folder.overwrite(frame.range.prefix(8))
        case .all:
            let first = try image.last(LogImage.item, ids[0].rawValue)
            try folder.overwrite(first.range.lowerBound..<image.end, with: 0)
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
        let (vault, login, ids) = try await prepare()
        await #expect(throws: VaultError.of(.notSupported)) { _ = try await vault.salvage(login) }
        var told: [String?] = []
        vault.onProblem = { name in told.append(vault.collection(named: name)?.problem) }
        try damage(kind, of: ids)
        let damaged = try folder.bytes(of: "login.keychain")
        for _ in 1...2 {
            #expect(try await !vault.check(check, nil).isSound || kind == .all)
            if kind == .all { break }
            // Told once.
            #expect(told == [login.problem])
            #expect(login.hasProblem && login.problem?.contains("keychainctl salvage") == true)
            try await expectAll(ids, in: login)
        }
        guard kind != .all else {
            // To a reader alone, it is an older file; the next change finds that another program has written into it.
            await #expect(throws: VaultError.of(.displaced)) { try await login.add("lost") }
            await vault.close()
            return
        }
        let problem = login.problem
        login.lock()
        #expect(login.problem == problem)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        let report = try await vault.salvage(login)
        #expect(report.kept == 3 && report.fromMemory == 1 && report.damaged == 0)
        #expect(try folder.bytes(of: report.oldFile) == damaged)
        #expect(login.problem == nil && !login.canBeSalvaged)
        #expect(try await vault.check(check, nil).isSound)
        try await expectAll(ids, in: login)
        try await login.add("next")
        await vault.close()
        let next = try await opened()
        let again = try await next.unlockedLogin()
        #expect(again.problem == nil && again.itemCount == 4)
        await next.close()
    }

    @Test func largeSecret_isLost_ifItsFrameIsDamaged() async throws {
        let (vault, login, ids) = try await prepare(sizes: [10, 20_000, 20_000])
        try damage(.secret, of: ids, 2)
        #expect(try await vault.check(check, nil).intact == 2)
        let report = try await vault.salvage(login)
        #expect(report.kept == 2 && report.fromMemory == 0 && report.damaged == 1)
        #expect(login.itemIDs == Array(ids.prefix(2)) && login.item(ids[1])?.label == "label 1")
        #expect(try await login.content(of: ids[1]) == [UInt8](repeating: UInt8(ascii: "1"), count: 20_000))
        #expect(login.search(["n": "2"]).isEmpty)
        await vault.close()
    }

    @Test func damageFoundByABackup_isTold() async throws {
        let (vault, login, ids) = try await prepare()
        try damage(.secret, of: ids)
        await #expect(throws: VaultError.of(.unreadable)) { try await vault.backUp(.login, to: backups) }
        #expect(login.canBeSalvaged && login.problem?.contains("keychainctl salvage") == true)
        _ = try await vault.salvage(login)
        try await vault.backUp(.login, to: backups)
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func damagedBackup_isNoProblemOfTheKeychain() async throws {
        let (vault, login, _) = try await prepare()
        try await vault.backUp(.login, to: backups)
        try home.write([UInt8](repeating: 1, count: 8192), to: "keychaind/backup/login.keychain")
        #expect(try await !vault.check("backup:login.keychain", backups).isSound)
        #expect(login.problem == nil && !login.canBeSalvaged)
        await vault.close()
    }

    @Test func salvageThatFails_leavesWhatIsInMemory() async throws {
        let (vault, login, ids) = try await prepare()
        try damage(.metadata, of: ids)
        #expect(try await !vault.check(check, nil).isSound)
        // In the place of the new file.
        try folder.makeFolder("login.keychain-new/inner")
        await #expect(throws: VaultError.self) { _ = try await vault.salvage(login) }
        #expect(login.state == .unlocked && login.canBeSalvaged)
        try await expectAll(ids, in: login)
        folder.remove("login.keychain-new")
        let report = try await vault.salvage(login)
        #expect(report.kept == 3 && report.fromMemory == 1 && login.problem == nil)
        try await expectAll(ids, in: login)
        await vault.close()
    }
}
