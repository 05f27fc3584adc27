import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// A start on a disk that has become full.
///
/// Mounting a small disk requires root.
@VaultActor
@Suite(.enabled(if: geteuid() == 0)) struct FullDiskTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    /// Creates an item and an alias on a disk of its own.
    private func prepare() async throws -> ItemID {
        try folder.mountDisk(bytes: 2 << 20)
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add("kept", ["a": "1"], secret: "kept")
        try await vault.setAlias("mine", to: login)
        try await vault.setLockout([7], of: .people)
        await vault.close()
        return id
    }

    /// Expects all reads to work and all changes to fail.
    private func expectAllButChanges(_ vault: Vault, _ id: ItemID) async throws {
        let login = try #require(vault.collection(named: .login))
        #expect(login.state == .locked)
        #expect(login.search(["a": "1"]) == [id])
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(try await login.content(of: id) == Array("kept".utf8))
        #expect(login.problem.map { problem in problem.contains("cannot be changed for now") } ?? true)
        // More than the file has room for.
        let large = String(repeating: "x", count: 2_000_000)
        await #expect(throws: VaultError.self) { try await login.add("large", secret: large) }
        #expect(login.itemIDs == [id])
    }

    @Test func afterAClose_isReadable_andWritableOnceThereIsRoom() async throws {
        let id = try await prepare()
        defer { folder.unmount() }
        try folder.fill("ballast")
        var vault = try await opened()
        #expect(vault.collection(forAlias: "mine")?.name == .login)
        #expect(vault.lockout(of: .people) == .record([7]))
        try await expectAllButChanges(vault, id)

        folder.remove("ballast")
        let login = try #require(vault.collection(named: .login))
        let next = try await login.add("next", ["b": "2"], secret: "next")
        try await vault.setAlias("other", to: login)
        await vault.close()
        vault = try await opened()
        #expect(vault.aliases.keys.sorted() == ["mine", "other"])
        #expect(try await vault.unlockedLogin().itemIDs == [id, next])
        await vault.close()
    }

    @Test("failed attempts are recorded on a full disk, in room that is kept for them")
    func failedAttempts_areRecorded() async throws {
        let id = try await prepare()
        defer { folder.unmount() }
        try folder.fill("ballast")
        for count in 8...9 as ClosedRange<UInt8> {
            let vault = try await opened()
            for _ in 0..<50 {
                try await vault.setLockout([0], of: .people)
                try await vault.setLockout([count], of: .people)
            }
            try await vault.setLockout([count], of: .item(id, [UInt8](repeating: count, count: 16)))
            let copy = try folder.snapshot()
            let survivor = try await Vault.opened(Fixture.configuration(copy))
            #expect(survivor.lockout(of: .people) == .record([count]))
            #expect(survivor.lockoutOwners.count == Int(count) - 7)
            await survivor.close()
            #expect(copy.names.contains("state"))
            await vault.close()
        }
    }

    @Test func deletionsWork_andMakeRoomForNothingElse() async throws {
        try folder.mountDisk(bytes: 4 << 20)
        defer { folder.unmount() }
        var vault = try await opened()
        var login = try await vault.unlockedLogin()
        let secret = String(repeating: "s", count: 1000)
        for number in 0..<100 { try await login.add("x", ["n": "\(number)"], secret: secret) }
        let work = try await vault.createCollection(label: "Work", password: Fixture.bytes("work"))
        try await vault.setAlias("office", to: work)
        await vault.close()
        try folder.fill("ballast")
        vault = try await opened()
        login = try await vault.unlockedLogin()
        let ids = login.itemIDs
        // Concurrent ones are written together.
        let together = ids.prefix(20).map { id in Task { @VaultActor in try await login.deleteItem(id) } }
        for task in together { try await task.value }
        for id in ids.dropFirst(20) { try await login.deleteItem(id) }
        try await vault.delete(#require(vault.collection(forAlias: "office")))
        #expect(login.itemCount == 0 && login.problem == nil)
        folder.remove("ballast")
        try await login.add("next")
        await vault.close()
        vault = try await opened()
        #expect(try await vault.unlockedLogin().itemCount == 1)
        #expect(vault.collections.map(\.name) == [.login, .session])
        await vault.close()
    }

    @Test func noFilesLeft_isReadable() async throws {
        let id = try await prepare()
        defer { folder.unmount() }
        // The folder itself counts.
        try folder.limitFiles(to: folder.names.count + 1)
        let vault = try await opened()
        #expect(vault.collection(forAlias: "mine")?.name == .login)
        try await expectAllButChanges(vault, id)
        try await vault.setLockout([8], of: .people)
        await vault.close()
        #expect(folder.names == ["index.key", "lock", "login.keychain", "state"])
        #expect(try await opened().lockout(of: .people) == .record([8]))
    }

    @Test func stateFilesMissing_collectionsAreReadable_andTheRestIsStoredOnceThereIsRoom() async throws {
        let id = try await prepare()
        defer { folder.unmount() }
        folder.remove("index.key")
        folder.remove("state")
        try folder.fill("ballast")
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        #expect(try await login.content(of: id) == Array("kept".utf8))
        #expect(login.search(["a": "1"]) == [id])
        await #expect(throws: VaultError.of(.storageFull)) { try await vault.setAlias("new", to: login) }
        folder.remove("ballast")
        try await vault.setAlias("new", to: login)
        await vault.close()
        vault = try await opened()
        #expect(vault.aliases == ["new": .login])
        #expect(try await vault.unlockedLogin().search(["a": "1"]) == [id])
        await vault.close()
    }
}

extension TemporaryFolder {
    /// Fills the folder's disk to the last byte.
    func fill(_ name: String) throws {
        let descriptor = Glibc.open(file(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        for size in [4096, 1] {
            let zeros = [UInt8](repeating: 0, count: size)
            while Glibc.write(descriptor, zeros, size) > 0 {}
        }
        try #require(errno == ENOSPC)
    }

    /// Limits the number of files on the folder's disk.
    func limitFiles(to count: Int) throws {
        try #require(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "nr_inodes=\(count)") == 0)
    }
}
