import Foundation
import KeychaindGcrypt
import KeychaindLog
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Another program of the user restores data from before an item was protected.
@VaultActor
@Suite struct RollbackTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func opened(_ folder: TemporaryFolder? = nil) async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder ?? self.folder, clock: clock))
        return (vault, try await vault.unlockedLogin())
    }

    /// Creates an open item, copies the folder and closes the vault.
    private func prepare() async throws -> (ItemID, TemporaryFolder) {
        let (vault, login) = try await opened()
        let id = try await login.add("bank", ["service": "bank"])
        try await login.add("other", ["service": "other"])
        await vault.close()
        return (id, try folder.snapshot())
    }

    private func protect(_ id: ItemID, _ accessControl: String = "userPresence", own: String? = nil) async throws {
        let (vault, login) = try await opened()
        try await login.updateItem(
            id,
            attributes: .protected(accessControl),
            applicationPassword: Fixture.optionalBytes(own)
        )
        await vault.close()
    }

    private func putBack(_ name: String = "login.keychain", from old: TemporaryFolder, as other: String? = nil) throws {
        try folder.write(old.bytes(of: name), to: other ?? name)
    }

    private func expectProtected(_ id: ItemID, in login: Collection, by accessControl: String = "userPresence") async {
        #expect(login.protection(of: id).needsAuthentication)
        #expect(login.item(id)?.attributes["keychain:access-control"] == accessControl)
        #expect(login.search(["keychain:access-control": accessControl]) == [id])
        await #expect(throws: VaultError.of(.authenticationNeeded)) { try await login.updateItem(id, label: "x") }
        await #expect(throws: VaultError.of(.authenticationNeeded)) { try await login.deleteItem(id) }
    }

    @Test(arguments: ["userPresence", "devicePasscode", "biometryAny"])
    func destroyedProtection_bringsNoOpenItemBack(accessControl: String) async throws {
        let (id, _) = try await prepare()
        try await protect(id, accessControl)
        try folder.tamper { image in image.zero(try image.last(LogImage.item, id.rawValue).range) }
        for _ in 0..<2 {
            let (vault, login) = try await opened()
            #expect(login.problem != nil)
            if login.contains(id) {
                guard case .damaged = login.item(id)?.condition else {
                    Issue.record("the open item is back")
                    return
                }
            }
            let other = try #require(login.search(["service": "other"]).first)
            #expect(login.protection(of: other) == .none)
            await vault.close()
        }
    }

    @Test(arguments: ["userPresence", "devicePasscode"])
    func rolledBackFile_isReported_andItsItemsStayProtected(accessControl: String) async throws {
        let (id, old) = try await prepare()
        try await protect(id, accessControl)
        let (vault, login) = try await opened()
        try await login.protect("userPresence", "later")
        await vault.close()
        try putBack(from: old)
        let (again, older) = try await opened()
        #expect(older.problem?.contains("the file was rolled back to an older one") == true)
        await expectProtected(id, in: older, by: accessControl)
        // The ID of the missing item is not used again.
        let new = try await older.add("new", ["service": "new"])
        #expect(new.rawValue == 4)
        #expect(older.protection(of: new) == .none)
        // An authenticated change brings the file up to the ledger, under the item key.
        try await older.updateItem(id, label: "bank", authenticated: true)
        #expect(older.needsItemKey(id) == (accessControl == "devicePasscode"))
        await again.close()
        let (last, healed) = try await opened()
        #expect(healed.problem == nil)
        await expectProtected(id, in: healed, by: accessControl)
        #expect(healed.protection(of: new) == .none)
        await last.close()
    }

    @Test func rolledBackFile_underAnotherName_staysProtected() async throws {
        let (vault, _) = try await opened()
        var work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.add("bank", ["service": "bank"])
        await vault.close()
        let old = try folder.snapshot()
        let (second, _) = try await opened()
        work = try #require(second.collection(named: work.name))
        try await work.unlock(with: Fixture.bytes("own"))
        try await work.updateItem(id, attributes: .protected("devicePasscode"))
        await second.close()

        // Beside the original, and then instead of it.
        try putBack("Work.keychain", from: old, as: "Copy.keychain")
        let copyName = try #require(CollectionName(encoded: "Copy"))
        let (third, _) = try await opened()
        guard case .unreadable(let reason) = third.collection(named: copyName)?.state else {
            Issue.record("the copy is taken for a collection of its own")
            return
        }
        #expect(reason.contains("a copy of Work"))
        #expect(third.collection(named: work.name)?.state == .locked)
        await third.close()
        folder.remove("Work.keychain")
        let (fourth, _) = try await opened()
        let copy = try #require(fourth.collection(named: copyName))
        try await copy.unlock(with: Fixture.bytes("own"))
        await expectProtected(id, in: copy, by: "devicePasscode")
        await fourth.close()
    }

    @Test func restoredItem_staysProtected() async throws {
        let (id, old) = try await prepare()
        try await protect(id)
        let (vault, login) = try await opened()
        try await login.deleteItem(id, authenticated: true)
        await vault.close()
        try putBack(from: old)
        let (again, older) = try await opened()
        await expectProtected(id, in: older)
        await again.close()
    }

    @Test func removedProtection_staysRemoved() async throws {
        let (id, old) = try await prepare()
        try await protect(id)
        let (vault, login) = try await opened()
        try await login.updateItem(id, attributes: ["service": "bank"], authenticated: true)
        await vault.close()
        for isOld in [false, true] {
            if isOld { try putBack(from: old) }
            let (again, login) = try await opened()
            #expect(login.protection(of: id) == .none)
            #expect((login.problem == nil) == !isOld)
            await again.close()
        }
    }

    @Test func rolledBackItem_withAnApplicationPassword_needsThePasscode() async throws {
        let (id, old) = try await prepare()
        try await protect(id, "applicationPassword", own: "sesame")
        try putBack(from: old)
        let (vault, login) = try await opened()
        await expectProtected(id, in: login, by: "devicePasscode")
        await vault.close()
    }

    @Test func damagedFile_withoutALedger_openItemsNeedAuthentication() async throws {
        let (id, _) = try await prepare()
        try await protect(id)
        try folder.tamper { image in image.zero(try image.last(LogImage.item, id.rawValue).range) }
        folder.remove("state")
        for _ in 0..<2 {
            let (vault, login) = try await opened()
            let other = try #require(login.search(["service": "other"]).first)
            #expect(login.protection(of: other).policy == Constraint.userPresence.policy)
            let new = try await login.add("new", ["service": "new"])
            #expect(login.protection(of: new) == .none)
            try await login.deleteItem(new)
            await vault.close()
        }
        let (vault, login) = try await opened()
        let other = try #require(login.search(["service": "other"]).first)
        try await login.updateItem(other, label: "seen", authenticated: true)
        #expect(login.protection(of: other) == .none)
        await vault.close()
        let (again, reopened) = try await opened()
        #expect(reopened.protection(of: other) == .none)
        await again.close()
    }

    /// A crash between the writes of the ledger and of the file, in either order.
    @Test func crashBetweenLedgerAndFile_keepsTheStricterState() async throws {
        let (id, before) = try await prepare()
        try await protect(id)
        let protected = try folder.snapshot()
        try putBack(from: before)
        var (vault, login) = try await opened()
        await expectProtected(id, in: login)
        await vault.close()
        try putBack(from: protected)
        (vault, login) = try await opened()
        #expect(login.problem == nil)
        try await login.updateItem(id, attributes: ["service": "bank"], authenticated: true)
        await vault.close()
        try putBack("state", from: protected)
        (vault, login) = try await opened()
        await expectProtected(id, in: login)
        await vault.close()
    }

    @Test func openItems_doNotChangeTheLedger() async throws {
        let (vault, login) = try await opened()
        let bank = try await login.protect("userPresence")
        let id = try await login.add("a")
        // Sealed anew by each change.
        func ledgers() throws -> Int {
            let image = try folder.image("state")
            return image.frames.count { frame in
                image.bytes[frame.open].dropFirst(2).starts(with: Array("ledger/".utf8))
            }
        }
        let before = try ledgers()
        for number in 0..<20 { try await login.add("x", ["n": "\(number)"], replacing: true) }
        try await login.updateItem(id, label: "b", attributes: ["keychain:accessible": "always"])
        try await login.updateItem(bank, label: "c", secret: Fixture.secret("new"), authenticated: true)
        try await login.deleteItem(id)
        try await login.deleteItem(bank, authenticated: true)
        try await login.setLabel("mine")
        #expect(try ledgers() == before)
        try await login.protect("userPresence")
        #expect(try ledgers() != before)
        await vault.close()
    }

    @Test func ledgerUnreadable_isReported_andOpenItemsWork() async throws {
        let (id, _) = try await prepare()
        try await protect(id)
        // Another program can seal with the key of the file, but not the ledger.
        let log = try RecordLog(folder.file("state"), application: 0x4b43_4853)
        let key = LogKey(try SealingKey(SecureBytes(count: 32)))
        var ledger: (id: RecordID, name: [UInt8])?
        try log.forEachOpen { id, open, _ in
            let name = Array(open.prefix(2 + "ledger/".utf8.count + 32))
            if name.dropFirst(2).starts(with: Array("ledger/".utf8)) { ledger = (id, name) }
        }
        let (record, name) = try #require(ledger)
        try log.commit([RecordChange(record, RecordContent(open: name + [0]))], key)
        let (vault, login) = try await opened()
        #expect(login.problem?.contains("a rollback would go unnoticed") == true)
        await expectProtected(id, in: login)
        let new = try await login.add("new", ["service": "new"])
        await #expect(throws: VaultError.of(.unreadable)) {
            try await login.updateItem(new, attributes: .protected("userPresence"))
        }
        #expect(try await login.content(of: new) == Array("secret".utf8))
        await vault.close()
    }
}
