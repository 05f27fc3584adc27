import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Deletions on a full disk, which make room.
///
/// Mounting a small disk requires root.
@VaultActor
@Suite(.enabled(if: geteuid() == 0)) struct FullDiskDeletionTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, generations: 3))
    }

    /// Fills a collection on a disk of its own, and waits for the reserve.
    private func prepare() async throws -> Vault {
        try folder.mountDisk(bytes: 16 << 20)
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        for number in 0..<160 {
            let size = number == 7 ? 400_000 : 1000
            try await login.add("x", ["n": "\(number)"], secret: String(repeating: "s", count: size))
        }
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        try await work.add()
        try await vault.setAlias("office", to: work)
        try await eventually("the reserve") { try folder.bytes(of: "lock").count == 1 << 20 }
        return vault
    }

    @Test(arguments: [false, true])
    func allDeletionsWork(afterAStart: Bool) async throws {
        var vault = try await prepare()
        defer { folder.unmount() }
        if afterAStart { await vault.close() }
        try folder.fill("ballast")
        if afterAStart { vault = try await opened() }
        let login = try await vault.unlockedLogin()
        // Concurrent ones are written together.
        let ids = login.itemIDs
        let together = ids.prefix(20).map { id in Task { @VaultActor in try await login.deleteItem(id) } }
        for task in together { try await task.value }
        for id in ids.dropFirst(20) { try await login.deleteItem(id) }
        let work = try #require(vault.collection(forAlias: "office"))
        try await vault.delete(work)
        #expect(login.problem == nil)
        #expect(folder.names.filter { name in name.hasPrefix("Work") }.isEmpty)

        folder.remove("ballast")
        try await login.add("next")
        // The space is kept back again.
        _ = try await vault.auditEntries()
        try await eventually("the reserve") { try folder.bytes(of: "lock").count == 1 << 20 }
        await vault.close()
        vault = try await opened()
        #expect(try await vault.unlockedLogin().itemCount == 1)
        #expect(vault.collections.map(\.name) == [.login, .session])
        await vault.close()
    }
}
