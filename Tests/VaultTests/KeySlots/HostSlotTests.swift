import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Synchronization
import Testing

/// A host sealer that remembers its keys until it is reset.
private final class FakeHost: HostSealer {
    private let keys = Mutex<[[UInt8]: [UInt8]]>([:])
    private let sealedSize: Int

    init(sealedSize: Int = 200) {
        self.sealedSize = sealedSize
    }

    func check() throws(VaultError) {}

    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
        let bytes = key.withUnsafeBytes { Array($0) }
        return keys.withLock { keys in
            let sealed = [UInt8](repeating: UInt8(keys.count), count: sealedSize)
            keys[sealed] = bytes
            return sealed
        }
    }

    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        guard let key = keys.withLock({ keys in keys[sealed] }), let bytes = try? SecureBytes(copying: key) else {
            throw VaultError(.hostNotAvailable, reason: "it was reset")
        }
        return bytes
    }

    /// The number of sealed keys.
    var sealedCount: Int { keys.withLock(\.count) }

    func reset() {
        keys.withLock { keys in keys = [:] }
    }

    func exchangeKeys() {
        keys.withLock { keys in
            for sealed in keys.keys { keys[sealed] = [UInt8](repeating: 7, count: 32) }
        }
    }
}

@VaultActor
@Suite struct HostSlotTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    @Test func addHost_afterAPasswordChange_runsOnce() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        _ = try await login.addRecoveryKey(openedBy: Fixture.bytes(Fixture.password))
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        let host = FakeHost()
        try await login.addHost(host, openedBy: Fixture.bytes("new"))
        #expect(host.sealedCount == 1)
        await vault.close()
    }

    @Test func unlock_byTheHost_afterARestartAndAPasswordChange() async throws {
        let host = FakeHost()
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let id = try await login.add(secret: "kept")
        try await login.addHost(host, label: "laptop", openedBy: Fixture.bytes(Fixture.password))
        #expect(login.keySlots.map(\.kind) == [.password, .host])
        #expect(login.keySlots.last?.label == "laptop")
        try await login.changePassword(from: Fixture.bytes(Fixture.password), to: Fixture.bytes("new"))
        await vault.close()
        vault = try await opened()
        login = try #require(vault.collection(named: .login))
        try await login.unlock(byHost: host)
        #expect(login.unlockedBy == .host)
        #expect(try await login.content(of: id) == Array("kept".utf8))
        await vault.close()
    }

    @Test func unlock_hostReset_passwordOpens() async throws {
        let host = FakeHost()
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        try await login.addHost(host, openedBy: Fixture.bytes(Fixture.password))
        login.lock()
        host.exchangeKeys()
        await #expect(throws: VaultError.of(.wrongPassword)) { try await login.unlock(byHost: host) }
        host.reset()
        await #expect(throws: VaultError.of(.hostNotAvailable)) { try await login.unlock(byHost: host) }
        #expect(login.state == .locked)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.unlockedBy == .password)
        // A new slot replaces the useless one.
        try await login.addHost(host, openedBy: Fixture.bytes(Fixture.password))
        #expect(login.keySlots.map(\.number) == [1, 3])
        login.lock()
        try await login.unlock(byHost: host)
        try await login.removeKeySlot(3)
        login.lock()
        await #expect(throws: VaultError.of(.noSuchKeySlot)) { try await login.unlock(byHost: host) }
        await vault.close()
    }

    @Test func addHost_sealedTooLong_isRefused() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for size in [0, 5000] {
            await #expect(throws: VaultError.of(.hostNotAvailable)) {
                try await login.addHost(FakeHost(sealedSize: size), openedBy: Fixture.bytes(Fixture.password))
            }
        }
        #expect(login.keySlots.count == 1)
        await vault.close()
    }

    @Test func unlock_byTheHost_vacant_createsNoFile() async throws {
        let vault = try await opened()
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError.of(.noSuchKeySlot)) { try await login.unlock(byHost: FakeHost()) }
        #expect(login.state == .vacant)
        await vault.close()
    }
}
