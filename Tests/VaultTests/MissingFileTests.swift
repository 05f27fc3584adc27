import Foundation
import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Files of collections that are gone at the start: nothing takes their place in silence.
@VaultActor
@Suite struct MissingFileTests {
    private let folder = TemporaryFolder()

    private func opened(limits: VaultLimits = VaultLimits()) async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, limits: limits, generations: 3))
    }

    /// Creates `login` and the collection `Work`; returns an item of `login`.
    private func fill() async throws -> ItemID {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["n": "1"], secret: "kept")
        try await login.add("later", ["n": "2"])
        let work = try await vault.createCollection(label: "Work of Ada", password: Fixture.bytes("work"))
        for number in 0..<2 { try await work.add("x", ["n": "\(number)"]) }
        try await vault.setAlias(Vault.defaultAlias, to: work)
        await vault.close()
        return id
    }

    /// - Parameter other: another problem that is told.
    private func expectMissing(_ collection: Collection?, and other: String = "") throws {
        let collection = try #require(collection)
        guard case .unreadable(let reason) = collection.state else {
            Issue.record("\(collection.name) is \(collection.state)")
            return
        }
        #expect(collection.isMissing)
        #expect(collection.problem?.hasPrefix(reason + other) == true)
        #expect((collection.problem == reason) == other.isEmpty)
        #expect(reason.contains("\(collection.name).keychain is missing"))
    }

    private var workName: CollectionName { CollectionName(label: "Work of Ada") }

    @Test func missingLogin_isAProblem_andNothingTakesItsPlace() async throws {
        _ = try await fill()
        folder.remove("login.keychain")
        for _ in 0..<2 {
            let vault = try await opened()
            let login = try #require(vault.collection(named: .login))
            try expectMissing(login)
            // As at a login with the account's password.
            await #expect(throws: VaultError.of(.unreadable)) { _ = try await vault.unlockedLogin() }
            await #expect(throws: VaultError.of(.unreadable)) { try await login.add() }
            await vault.close()
            #expect(!folder.names.contains("login.keychain"))
        }
    }

    @Test(arguments: ["state", "state and index.key"])
    func missingLogin_withoutState_isKnownByItsFormerFiles(what: String) async throws {
        _ = try await fill()
        try folder.write(folder.bytes(of: "login.keychain"), to: "login.keychain-past-1700000000")
        for name in ["login.keychain"] + what.components(separatedBy: " and ") { folder.remove(name) }
        let vault = try await opened()
        try expectMissing(vault.collection(named: .login))
        await vault.close()
    }

    @Test func missingLogin_withDamagedState_isKnown() async throws {
        _ = try await fill()
        folder.remove("login.keychain")
        try folder.tamper("state") { image in
            let alias = image.frames.first { frame in
                image.bytes[frame.open].dropFirst(2).starts(with: Array("alias/".utf8))
            }
            image.flip(try #require(alias).range.lowerBound)
        }
        let vault = try await opened()
        #expect(folder.names.contains("state.unreadable"))
        try expectMissing(vault.collection(named: .login), and: "; state was damaged")
        await vault.close()
    }

    @Test func firstStart_makesLogin() async throws {
        for _ in 0..<2 {
            let vault = try await opened()
            #expect(vault.collection(named: .login)?.state == .vacant)
            await vault.close()
        }
        let vault = try await opened()
        try await vault.unlockedLogin().add()
        await vault.close()
    }

    @Test func missingCollection_keepsLabelAliasAndName() async throws {
        _ = try await fill()
        folder.remove("\(workName).keychain")
        let vault = try await opened()
        let work = try #require(vault.collection(named: workName))
        try expectMissing(work)
        #expect(work.label == "Work of Ada")
        #expect(vault.collection(forAlias: Vault.defaultAlias) === work)
        let other = try await vault.createCollection(label: "Work of Ada", password: Fixture.bytes("other"))
        #expect(other.name != work.name)
        await vault.close()
    }

    @Test func renamedCollection_isMissingUnderItsNewLabel() async throws {
        _ = try await fill()
        var vault = try await opened()
        let work = try #require(vault.collection(named: workName))
        try await work.unlock(with: Fixture.bytes("work"))
        try await work.setLabel("Office")
        await vault.close()
        folder.remove("\(workName).keychain")
        vault = try await opened()
        #expect(vault.collection(named: workName)?.label == "Office")
        await vault.close()
    }

    @Test func fileThatComesBack_isTakenUp_alsoWhileRunning() async throws {
        let id = try await fill()
        let bytes = try folder.bytes(of: "login.keychain")
        folder.remove("login.keychain")
        var vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        #expect(!vault.hasReturned(login))
        try folder.write(bytes, to: "login.keychain")
        #expect(vault.hasReturned(login))
        let back = try #require(await vault.takeUp(login))
        #expect(back.state == .locked && back.problem == nil && !back.isMissing)
        #expect(try await vault.unlockedLogin().content(of: id) == Array("kept".utf8))
        await vault.close()
        vault = try await opened()
        #expect(try await vault.unlockedLogin().problem == nil)
        await vault.close()
    }

    @Test func deletedMissingLogin_isForgotten_andBeginsAnew() async throws {
        _ = try await fill()
        folder.remove("login.keychain")
        var vault = try await opened()
        try await vault.delete(#require(vault.collection(named: .login)))
        #expect(vault.collection(named: .login)?.state == .vacant)
        await vault.close()
        vault = try await opened()
        #expect(vault.collection(named: .login)?.state == .vacant)
        await vault.close()
    }

    @Test func deletedMissingCollection_thatHasComeBack_isKept() async throws {
        _ = try await fill()
        let file = "\(workName).keychain"
        let bytes = try folder.bytes(of: file)
        folder.remove(file)
        let vault = try await opened()
        let work = try #require(vault.collection(named: workName))
        try folder.write(bytes, to: file)
        await #expect(throws: VaultError.of(.busy)) { try await vault.delete(work) }
        #expect(try folder.bytes(of: file) == bytes)
        #expect(await vault.takeUp(work)?.state == .locked)
        await vault.close()
    }

    @Test func deletedCollection_isNotMissing() async throws {
        _ = try await fill()
        var vault = try await opened()
        try await vault.delete(#require(vault.collection(named: workName)))
        try await vault.delete(#require(vault.collection(named: .login)))
        await vault.close()
        vault = try await opened()
        #expect(vault.collections.map(\.name) == [.login, .session])
        #expect(vault.collection(named: .login)?.state == .vacant)
        await vault.close()
    }

    // A program of the user can fill the folder with files.
    @Test func tooManyFiles_loginTheDefaultAndTheKnownOnes_comeFirst() async throws {
        _ = try await fill()
        let bytes = try folder.bytes(of: "\(workName).keychain")
        for number in 0..<20 { try folder.write(bytes, to: "a\(number).keychain") }
        var limits = VaultLimits()
        limits.collections = 4
        let vault = try await opened(limits: limits)
        #expect(vault.collections.count == 5)
        #expect(vault.collection(named: .login)?.state == .locked)
        #expect(vault.collection(named: workName) != nil)
        await vault.close()
    }
}
