import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct LockingTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    private func openedSlowly() async throws -> Vault {
        var configuration = Fixture.configuration(folder)
        configuration.keyDerivation = Fixture.slowDerivation
        return try await Vault.opened(configuration)
    }

    @Test func login_freshFolder_isCreatedByTheFirstUnlock() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(forAlias: "default"))
        #expect(login.name == .login)
        #expect(login.state == .vacant)
        #expect(!folder.names.contains("login.keychain"))
        try await login.unlock(with: Fixture.bytes("new"))
        #expect(login.state == .unlocked)
        #expect(folder.names.contains("login.keychain"))
        await vault.close()
    }

    @Test func unlock_emptyPassword_isRefusedEverywhere() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError(.emptyPassword, reason: "")) {
            try await login.unlock(with: Fixture.bytes(""))
        }
        #expect(login.state == .vacant)
        await #expect(throws: VaultError(.emptyPassword, reason: "")) {
            _ = try await vault.createCollection(label: "x", password: Fixture.bytes(""))
        }
        #expect(vault.collections.map(\.name) == [.login, .session])
        try await login.unlock(with: Fixture.bytes("pw"))
        login.lock()
        await #expect(throws: VaultError(.emptyPassword, reason: "")) {
            try await login.unlock(with: Fixture.bytes(""))
        }
        #expect(login.state == .locked)
        await vault.close()
    }

    @Test func unlock_wrongPassword_staysLocked_andTheRightOneWorks() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add()
        await vault.close()
        vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        for wrong in ["wrong", "correct horse ", "Correct horse", "c"] {
            await #expect(throws: VaultError(.wrongPassword, reason: "")) {
                try await login.unlock(with: Fixture.bytes(wrong))
            }
            #expect(login.state == .locked)
        }
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(try await login.content(of: id) == Array("secret".utf8))
        await vault.close()
    }

    @Test func unlock_passwordWithNULAndInvalidUTF8_isComparedBytewise() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        try await login.unlock(with: SecureBytes(copying: [0, 255, 10]))
        login.lock()
        await #expect(throws: VaultError(.wrongPassword, reason: "")) {
            try await login.unlock(with: SecureBytes(copying: [0, 255]))
        }
        try await login.unlock(with: SecureBytes(copying: [0, 255, 10]))
        await vault.close()
    }

    @Test func unlock_ofAnUnlockedCollection_triesNoPassword() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        #expect(try await login.unlock(with: Fixture.bytes("pw")))
        #expect(try await !login.unlock(with: Fixture.bytes("wrong")))
        #expect(login.state == .unlocked)
        login.lock()
        #expect(try await login.unlock(with: Fixture.bytes("pw")))
        await vault.close()
    }

    @Test func unlock_passwordTooLong_isRefused() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError(.limitExceeded, reason: "")) {
            try await login.unlock(with: SecureBytes(count: VaultLimits().passwordBytes + 1))
        }
        await vault.close()
    }

    @Test func lock_keepsMetadata_andWipesSecrets() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("label", ["a": "1"])
        let before = login.item(id)
        login.lock()
        #expect(login.state == .locked)
        #expect(login.item(id) == before)
        #expect(login.search(["a": "1"]) == [id])
        #expect(throws: VaultError(.locked, reason: "")) { _ = try login.secret(of: id) }
        await #expect(throws: VaultError(.locked, reason: "")) { _ = try await login.storedSecret(of: id) }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.add() }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.deleteItem(id) }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.updateItem(id, label: "x") }
        await #expect(throws: VaultError(.locked, reason: "")) { try await login.setLabel("x") }
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(try await login.content(of: id) == Array("secret".utf8))
        try await login.add("after")
        #expect(login.itemCount == 2)
        await vault.close()
    }

    @Test func search_beforeTheFirstUnlock_findsByBlindTags() async throws {
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let first = try await login.add("1", ["service": "a", "user": "x"])
        let second = try await login.add("2", ["service": "a", "user": "y"])
        try await login.add("3", ["service": "b", "user": "y"])
        await vault.close()

        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        #expect(login.search(["service": "a"]) == [second, first])
        #expect(login.search(["service": "a", "user": "y"]) == [second])
        #expect(login.search(["service": "b", "user": "x"]).isEmpty)
        #expect(login.search(["service": "A"]).isEmpty)
        #expect(login.search([:]).count == 3)
        #expect(login.item(first)?.condition == .unread)
        #expect(login.item(first)?.attributes.isEmpty == true)
        #expect(throws: VaultError(.locked, reason: "")) { _ = try login.secret(of: first) }
        await vault.close()
    }

    @Test func unlock_concurrently_bothSucceed() async throws {
        var vault = try await opened()
        try await vault.unlockedLogin().add()
        await vault.close()
        vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        let tasks = (0..<4).map { _ in
            Task { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        }
        var tried: [Bool] = []
        for task in tasks { tried.append(try await task.value) }
        #expect(tried.filter(\.self).count == 1)
        #expect(login.state == .unlocked)
        #expect(login.itemCount == 1)
        await vault.close()
    }

    @Test func unlock_wrongAndRightConcurrently_endsUnlocked() async throws {
        var vault = try await opened()
        try await vault.unlockedLogin().add()
        await vault.close()
        vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        let wrong = Task { @VaultActor in try? await login.unlock(with: Fixture.bytes("wrong")) }
        let right = Task { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        _ = await wrong.value
        _ = try await right.value
        #expect(login.state == .unlocked)
        await vault.close()
    }

    @Test func lock_whileUnlocking_endsLocked() async throws {
        var vault = try await openedSlowly()
        let id = try await vault.unlockedLogin().add()
        await vault.close()
        vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        let unlocking = Task.immediate { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        #expect(login.state == .unlocking)
        login.lock()
        await #expect(throws: VaultError(.locked, reason: "")) { try await unlocking.value }
        #expect(login.state == .locked)
        #expect(throws: VaultError(.locked, reason: "")) { _ = try login.secret(of: id) }
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        try await login.add()
        await vault.close()
    }

    @Test func unlock_begunBeforeALock_isRefused() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let other = try await vault.createCollection(label: "other", password: Fixture.bytes("pw"))
        let begun = vault.unlockStart
        login.lock()
        login.lock()
        await #expect(throws: VaultError(.locked, reason: "")) {
            try await login.unlock(with: Fixture.bytes(Fixture.password), begun: begun)
        }
        #expect(login.state == .locked)
        let later = vault.unlockStart
        other.lock()
        try await login.unlock(with: Fixture.bytes(Fixture.password), begun: later)
        #expect(login.state == .unlocked)
        await vault.close()
    }

    @Test func unlock_begunBeforeALock_createsNoFile() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        let begun = vault.unlockStart
        login.lock()
        await #expect(throws: VaultError(.locked, reason: "")) {
            try await login.unlock(with: Fixture.bytes("new"), begun: begun)
        }
        #expect(login.state == .vacant)
        #expect(!folder.names.contains("login.keychain"))
        await vault.close()
    }

    @Test func lock_stopsTheUnlocksThatWaitForAnother() async throws {
        var vault = try await openedSlowly()
        try await vault.unlockedLogin().add()
        await vault.close()
        vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        let tasks = (0..<3).map { _ in
            Task.immediate { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        }
        #expect(login.state == .unlocking)
        login.lock()
        for task in tasks {
            await #expect(throws: VaultError(.locked, reason: "")) { try await task.value }
        }
        #expect(login.state == .locked)
        await vault.close()
    }

    @Test func lock_stopsTheChangesThatMayNotBeginYet() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add()
        let gate = Gate()
        vault.admission = gate
        let deleting = Task.immediate { @VaultActor in try await login.deleteItem(id) }
        #expect(gate.waitingChanges == 1)
        login.lock()
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        gate.open()
        await #expect(throws: VaultError.of(.locked)) { try await deleting.value }
        #expect(login.itemIDs == [id])
        let later = Task.immediate { @VaultActor in try await login.deleteItem(id) }
        gate.open()
        try await later.value
        #expect(login.itemIDs.isEmpty)
        #expect(gate.runningChanges == 0)
        await vault.close()
    }

    @Test func lock_stopsAChangeThatWaitsForItsKey() async throws {
        final class Client: Sendable {}
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let other = try await vault.createCollection(label: "other", password: Fixture.bytes("pw"))
        let client = Client()
        let owner = WorkOwner.client(ObjectIdentifier(client))
        let host = WaitingHost()
        // Between two derivations of a client, that of a person has its turn.
        let holding = Task.immediate { @VaultActor in
            try await WorkOwner.$current.withValue(owner) {
                try await other.addHost(host, openedBy: Fixture.bytes("pw"))
            }
        }
        _ = try await host.calls.first("a derivation") { _ in true }
        let creating = Task.immediate { @VaultActor in
            try await WorkOwner.$current.withValue(owner) {
                try await login.protect("applicationPassword", applicationPassword: "sesame")
            }
        }
        login.lock()
        let unlocking = Task.immediate { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        host.open()
        try await holding.value
        _ = try await unlocking.value
        await #expect(throws: VaultError.of(.locked)) { try await creating.value }
        #expect(login.state == .unlocked && login.itemIDs.isEmpty)
        await vault.close()
    }

    /// Lets changes begin when the test says so.
    @VaultActor
    private final class Gate: @VaultActor ChangeAdmission {
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private(set) var runningChanges = 0

        var waitingChanges: Int { waiting.count }

        @VaultActor
        func begin(_ bytes: Int) async -> Int {
            await withCheckedContinuation { waiting.append($0) }
            runningChanges += 1
            return bytes
        }

        func end(_ number: Int) { runningChanges -= 1 }

        func open() {
            for change in waiting { change.resume() }
            waiting = []
        }
    }

    @Test func onSettled_whileUnlocking_isCalledOnce() async throws {
        let vault = try await openedSlowly()
        let login = try #require(vault.collection(named: .login))
        var calls: [Collection.State] = []
        login.onSettled { calls.append(login.state) }
        #expect(calls == [.vacant])
        let unlocking = Task.immediate { @VaultActor in try await login.unlock(with: Fixture.bytes("pw")) }
        #expect(login.state == .unlocking)
        login.onSettled { calls.append(login.state) }
        #expect(calls.count == 1)
        _ = try await unlocking.value
        #expect(calls == [.vacant, .unlocked])
        login.lock()
        #expect(calls.count == 2)
        await vault.close()
    }

    @Test func keyDerivation_doesNotBlockOtherCollections() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        login.lock()
        let other = try await vault.createCollection(label: "other", password: Fixture.bytes("pw"))
        let id = try await other.add(secret: String(repeating: "x", count: 10_000))
        let third = try await vault.createCollection(label: "third", password: Fixture.bytes("pw"))
        let host = WaitingHost()
        let holding = Task.immediate { @VaultActor in try await third.addHost(host, openedBy: Fixture.bytes("pw")) }
        _ = try await host.calls.first("a derivation") { _ in true }
        let unlocking = Task.immediate { @VaultActor in try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        // All of this happens during the derivation.
        #expect(try await other.content(of: id).count == 10_000)
        let made = try await other.add()
        try await other.deleteItem(made)
        #expect(login.state == .unlocking)
        host.open()
        try await holding.value
        _ = try await unlocking.value
        await vault.close()
    }

    @Test func unlock_noLockedMemory_isRefused_untilThereIsSome() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add()
        await vault.close()
        var limits = VaultLimits()
        // More than the whole pool.
        limits.keyReserveBytes = 32 * 1024 * 1024
        vault = try await Vault.opened(Fixture.configuration(folder, limits: limits))
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await login.unlock(with: Fixture.bytes(Fixture.password))
        }
        #expect(login.state == .locked)
        await #expect(throws: VaultError.of(.limitExceeded)) {
            _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        }
        #expect(vault.collections.map(\.name) == [.login, .session])
        await vault.close()
        vault = try await opened()
        #expect(try await vault.unlockedLogin().itemIDs == [id])
        await vault.close()
    }

    @Test func isBeingMade_onlyDuringCreation() async throws {
        let vault = try await openedSlowly()
        let name = try #require(CollectionName(encoded: "Work"))
        let making = Task.immediate { @VaultActor in
            _ = try await vault.createCollection(label: "Work", password: Fixture.bytes("pw"))
        }
        let work = try #require(vault.collection(named: name))
        #expect(work.state == .unlocking)
        #expect(work.isBeingMade)
        try await making.value
        #expect(!work.isBeingMade)
        work.lock()
        let unlocking = Task.immediate { @VaultActor in try await work.unlock(with: Fixture.bytes("pw")) }
        #expect(work.state == .unlocking)
        #expect(!work.isBeingMade)
        _ = try await unlocking.value
        await vault.close()
    }
}
