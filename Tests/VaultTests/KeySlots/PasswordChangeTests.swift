import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct PasswordChangeTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func opened(_ folder: TemporaryFolder? = nil) async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder ?? self.folder, clock: clock))
    }

    private func opens(_ password: String, _ name: CollectionName, _ folder: TemporaryFolder) async throws -> Bool {
        let vault = try await opened(folder)
        let collection = try #require(vault.collection(named: name))
        var isOpen = true
        let bytes = try Fixture.bytes(password)
        do throws(VaultError) {
            try await collection.unlock(with: bytes)
        } catch {
            isOpen = false
            #expect(error == .of(.wrongPassword))
        }
        #expect(collection.problem == nil)
        await vault.close()
        return isOpen
    }

    @Test func changePassword_replacesThePassword_andTouchesNoItem() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.add("mail", ["server": "mail"], secret: "kept")
        await vault.close()
        let before = try folder.image()
        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        let modified = login.modified
        clock.advance(seconds: 5)
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        #expect(login.state == .locked)
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.unlock(with: Fixture.bytes(Fixture.password))
        }
        try await login.unlock(with: Fixture.bytes("new"))
        #expect(try await login.content(of: id) == Array("kept".utf8))
        #expect(login.modified == modified)
        await vault.close()
        let old = try before.last(LogImage.item, id.rawValue)
        let new = try folder.image().last(LogImage.item, id.rawValue)
        #expect(old.range == new.range)
        #expect(try folder.bytes(of: "login.keychain")[new.range] == before.bytes[old.range])
        #expect(try await opens("new", .login, folder))
        #expect(try await !opens(Fixture.password, .login, folder))
    }

    @Test func changePassword_whileUnlocked_staysUnlocked() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        #expect(login.state == .unlocked)
        try await login.add("after")
        await vault.close()
        #expect(try await opens("new", .login, folder))
    }

    @Test func changePassword_crashAfterTheReply_isDurable_andTheOldSlotIsGone() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add()
        let before = try folder.snapshot()
        let old = try #require(try before.image().slots().first).wrapped
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        let crashed = try folder.snapshot()
        await vault.close()
        #expect(try await opens("new", .login, crashed))
        #expect(try await !opens(Fixture.password, .login, crashed))
        let again = try folder.snapshot()
        for name in again.names where name.hasPrefix("login.keychain") {
            #expect(try again.bytes(of: name).firstRange(of: old) == nil, "\(name)")
        }
    }

    @Test func changePassword_truncatedFile_opensWithOneOfTheTwo() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.add("x", secret: "kept")
        let before = try folder.image()
        await vault.close()
        let key = try folder.bytes(of: "index.key")
        var states: Set<Bool> = []
        let disk = FailingDisk()
        var configuration = Fixture.configuration(folder, clock: clock, pauses: false)
        configuration.system = disk.system
        let changing = try await Vault.opened(configuration)
        let changed = try #require(changing.collection(named: .login))
        // The old slots are overwritten after the sync of the change.
        disk.failure = FailingDisk.Failure(operation: .write, file: "login.keychain", after: 1)
        _ = try? await changed.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        let written = try folder.image()
        disk.failure = nil
        await changing.close()
        for size in stride(from: before.end, through: written.end, by: 512) + [written.end] {
            let crashed = TemporaryFolder()
            var image = written
            image.zero(size..<image.bytes.count)
            try crashed.write(image.bytes, to: "login.keychain")
            try crashed.write(key, to: "index.key")
            let isNew = try await opens("new", .login, crashed)
            #expect(try await opens(Fixture.password, .login, crashed) != isNew)
            states.insert(isNew)
        }
        #expect(states == [false, true])
    }

    @Test func changePassword_wrongOld_changesNothing() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let slots = login.keySlots
        await #expect(throws: VaultError.of(.wrongPassword)) {
            try await login.changePassword(from: Fixture.bytes("wrong"), to: Fixture.bytes("new"))
        }
        for (old, new) in [("", "new"), (Fixture.password, "")] {
            await #expect(throws: VaultError.of(.emptyPassword)) {
                try await login.changePassword(from: Fixture.bytes(old), to: Fixture.bytes(new))
            }
        }
        #expect(login.keySlots == slots)
        await vault.close()
        #expect(try await opens(Fixture.password, .login, folder))
    }

    @Test func changePassword_concurrently_oneWins() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let tasks = (0..<6).map { number in
            Task { @VaultActor in
                try await login.changePassword(
                    from: Fixture.bytes(Fixture.password),
                    to: Fixture.bytes("new \(number)")
                )
            }
        }
        var outcomes: [Int] = []
        for (number, task) in tasks.enumerated() {
            do {
                try await task.value
                outcomes.append(number)
            } catch {
                #expect(error as? VaultError == .of(.wrongPassword))
            }
        }
        #expect(outcomes.count == 1)
        #expect(login.keySlots.count == 1)
        await vault.close()
        #expect(try await opens("new \(outcomes.first ?? -1)", .login, folder))
    }

    @Test func changePassword_keepsThePasscodeOfOtherCollections() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let own = try await login.protect("devicePasscode", secret: "in login")
        var work = try await vault.createCollection(label: "Work", password: Fixture.bytes("own"))
        let id = try await work.protect("devicePasscode", secret: "in work")
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        try await work.changePassword(from: Fixture.bytes("own"), to: Fixture.bytes("own 2"))
        for _ in 0..<2 {
            let inWork = try await work.key(of: id, in: vault, passcode: "new")
            #expect(try await work.content(of: id, with: inWork) == Array("in work".utf8))
            let key = try await login.key(of: own, in: vault, passcode: "new")
            #expect(try await login.content(of: own, with: key) == Array("in login".utf8))
            await #expect(throws: VaultError.of(.wrongPassword)) {
                _ = try await vault.verifyPasscode(Fixture.bytes(Fixture.password))
            }
            await vault.close()
            vault = try await opened()
            login = try await vault.unlockedLogin("new")
            work = try #require(vault.collection(named: work.name))
            try await work.unlock(with: Fixture.bytes("own 2"))
        }
        await vault.close()
    }

    @Test func changePasswords_changesMatchingCollectionsOnly() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        let same = try await vault.createCollection(label: "Same", password: Fixture.bytes(Fixture.password))
        let other = try await vault.createCollection(label: "Other", password: Fixture.bytes("own"))
        same.lock()
        let change = try await vault.changePasswords(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        #expect(change.changed == [.login, same.name])
        #expect(change.failed.isEmpty)
        await #expect(throws: VaultError.of(.wrongPassword)) {
            _ = try await vault.changePasswords(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("newer"))
        }
        await vault.close()
        #expect(try await opens("new", .login, folder))
        #expect(try await opens("new", same.name, folder))
        #expect(try await opens("own", other.name, folder))

        // A collection that cannot be written is reported and does not stop the others.
        try folder.write([1, 2, 3], to: "Broken.keychain")
        vault = try await opened()
        let second = try await vault.changePasswords(from: Fixture.bytes("new"), to: Fixture.bytes("newer"))
        #expect(second.changed == [.login, same.name])
        await vault.close()
    }

    @Test func changePasswords_readOnlyFolder_reportsReasons() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        await vault.close()
        try folder.makeReadOnly()
        defer { folder.makeWritable() }
        vault = try await opened()
        let change = try await vault.changePasswords(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        #expect(change.changed.isEmpty)
        #expect(change.failed.map(\.name) == [.login])
        #expect(change.failed.first?.error == .of(.readOnly))
        await vault.close()
    }

    @Test func changePassword_withoutAPassword_isRefused() async throws {
        let vault = try await opened()
        for name in [CollectionName.login, .session] {
            let collection = try #require(vault.collection(named: name))
            await #expect(throws: VaultError.of(.notSupported)) {
                try await collection.changePassword(from: Fixture.bytes("a"), to: Fixture.bytes("b"))
            }
            #expect(collection.keySlots.isEmpty)
        }
        let login = try await vault.unlockedLogin()
        try await vault.delete(login)
        await #expect(throws: VaultError.of(.noSuchCollection)) {
            try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("b"))
        }
        await vault.close()
    }

    @Test func changePasswords_reportUnreadableCollections() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin("old")
        _ = try await vault.createCollection(label: "Broken", password: Fixture.bytes("old"))
        await vault.close()
        try folder.write([1, 2, 3], to: "Broken.keychain")
        vault = try await opened()
        await #expect(throws: VaultError.of(.wrongPassword)) {
            _ = try await vault.changePasswords(from: Fixture.bytes("wrong"), to: Fixture.bytes("new"))
        }
        let change = try await vault.changePasswords(from: Fixture.bytes("old"), to: Fixture.bytes("new"))
        #expect(change.changed == [.login])
        #expect(change.failed.map(\.name) == [CollectionName(label: "Broken")])
        #expect(change.failed.map(\.error) == [.of(.unreadable)])
        await vault.close()
        try folder.write([4, 5, 6], to: "login.keychain")
        vault = try await opened()
        let rest = try await vault.changePasswords(from: Fixture.bytes("old"), to: Fixture.bytes("new"))
        #expect(rest.changed.isEmpty)
        #expect(rest.failed.count == 2)
        await vault.close()
        #expect(try folder.bytes(of: "Broken.keychain") == [1, 2, 3])
    }
}
