import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Unlocks, locks and changes at the same time.
extension LockingTests {
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
        final class Client: WorkProgram {}
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let other = try await vault.createCollection(label: "other", password: Fixture.bytes("pw"))
        let client = Client()
        let owner = WorkOwner.program(client)
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
}
