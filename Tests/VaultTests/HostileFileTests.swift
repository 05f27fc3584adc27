import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Testing

/// Forged files with valid checksums.
@VaultActor
@Suite struct HostileFileTests {
    private let folder = TemporaryFolder()

    private func prepare(_ folder: TemporaryFolder? = nil) async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder ?? self.folder))
        try await vault.unlockedLogin().add()
        await vault.close()
    }

    /// Replaces the parameters of the key slot, with a matching checksum.
    private func forgeSlot(parameters: [UInt8]) throws {
        let path = folder.file("login.keychain")
        let identifier = bytes(hexadecimal: try RawDatabase(path).text("SELECT hex(uuid) FROM header"))
        let wrapped = bytes(hexadecimal: try RawDatabase(path).text("SELECT hex(wrapped) FROM slot"))
        var message: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
        message += [0, 0, UInt8(parameters.count >> 8), UInt8(parameters.count & 0xff)]
        message += parameters + wrapped
        let authenticator = try HMACSHA256(key: SecureBytes(copying: identifier))
        let checksum = try SecureBytes(copying: message).withUnsafeBytes { bytes in
            try authenticator.authenticate(bytes)
        }
        try RawDatabase(path).execute(
            "UPDATE slot SET parameters = x'\(hexadecimal(parameters))', "
                + "checksum = x'\(hexadecimal(checksum.prefix(8)))'"
        )
    }

    /// The parameters of a key slot: costs that are out of bounds, wrong sizes, and another salt.
    private nonisolated static let parameters: [([UInt8], VaultError.Code)] =
        ([
            [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1], [0, 0, 0, 64, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1],
            [0, 0, 0, 64, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 2],
        ] as [[UInt8]]).map { costs in (costs + [UInt8](repeating: 7, count: 16), .cryptographyFailed) }
        + [0, 1, 11, 12, 27, 29, 1000].map { size in ([UInt8](repeating: 1, count: size), .unreadable) }
        + [([0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 7, count: 16), .wrongPassword)]

    @Test(arguments: parameters)
    func forgedParameters_areRefusedAtOnce(parameters: [UInt8], code: VaultError.Code) async throws {
        try await prepare()
        try forgeSlot(parameters: parameters)
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError.of(code)) { try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        if code != .unreadable { #expect(login.state == .locked) }
        await vault.close()
    }

    @Test func unknownSlot_isIgnored() async throws {
        try await prepare()
        let path = folder.file("login.keychain")
        // A slot of an unknown kind with a made-up checksum opens nothing.
        try RawDatabase(path).execute("INSERT INTO slot VALUES (0, 99, x'01', x'02', x'0000000000000000')")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        #expect(try await vault.unlockedLogin().itemCount == 1)
        await vault.close()
    }

    @Test func manyEqualOrInvalidTags_searchWorks() async throws {
        try await prepare()
        let path = folder.file("login.keychain")
        let tags = try RawDatabase(path).text("SELECT hex(tags) FROM item")
        try RawDatabase(path).execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO item SELECT i, i, CASE i % 3 WHEN 0 THEN x'\(tags)\(tags)' WHEN 1 THEN x'\(tags)ff' ELSE x'01' END,
            zeroblob(60), zeroblob(60) FROM n
            """
        )
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        let wanted: Attributes = ["service": "test"]
        let hits = login.search(wanted)
        #expect(hits.count == Set(hits).count)
        #expect(hits.count > 1000)
        try await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(login.problem != nil)
        #expect(login.search(wanted).count == hits.count)
        for id in login.itemIDs.dropFirst().prefix(50) { try await login.deleteItem(id) }
        #expect(Set(login.search(wanted)).isSubset(of: Set(login.itemIDs)))
        await vault.close()
    }

    @Test func rowLongerThanAnySecret_isNotRead() async throws {
        var limits = VaultLimits()
        limits.secretBytes = 1 << 20
        try await prepare()
        try RawDatabase(folder.file("login.keychain")).execute("UPDATE item SET metadata = zeroblob(4 << 20)")
        let vault = try await Vault.opened(Fixture.configuration(folder, limits: limits))
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError.self) { try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        await vault.close()
    }

    /// One of the largest size there is, and one that has it with its journal.
    @Test(arguments: [off_t.max, off_t.max - 8192])
    func largestSparseFile_withJournal_vaultOpens(size: off_t) async throws {
        // Few file systems on disks have files of this size.
        let folder = TemporaryFolder(in: "/dev/shm/")
        try await prepare(folder)
        try #require(truncate(folder.file("login.keychain"), size) == 0)
        try folder.write([UInt8](repeating: 1, count: 16_384), to: "login.keychain-wal")
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        _ = try? await login.unlock(with: Fixture.bytes(Fixture.password))
        #expect(vault.isOpen)
        await vault.close()
    }

    @Test func pipeAmongTheGenerations_isNoKeychain() async throws {
        try await prepare()
        try folder.makeFolder("generations")
        let file = "login.000009-20260101T000000Z.keychain"
        try #require(mkfifo(folder.file("generations/" + file), 0o600) == 0)
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let id = "generation:" + file
        #expect(try await vault.checkableFiles(nil).contains(id))
        #expect(try await !vault.check(id, nil).isSound)
        await #expect(throws: VaultError.of(.unreadable)) { _ = try await vault.stage(copy: id, nil) }
        #expect(try await vault.copies(nil).isEmpty)
        await vault.close()
    }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    private func bytes(hexadecimal text: String) -> [UInt8] {
        stride(from: 0, to: text.utf8.count, by: 2).compactMap { index in
            UInt8(text.dropFirst(index).prefix(2), radix: 16)
        }
    }
}
