import Glibc
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
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
        try folder.tamper { image in
            var slot = try #require(try image.slots().first)
            slot.parameters = parameters
            slot.checksum = try image.checksum(slot)
            try image.write([slot])
        }
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

    @Test(arguments: [0, 1, 9, 60_000])
    func numberOfSlotsThatLies_isNoCrash(count: Int) async throws {
        try await prepare()
        try folder.tamper { image in
            for number: UInt64 in 0...1 {
                let place = try image.last(LogImage.slots, number).open.lowerBound + 8
                image.bytes.replaceSubrange(place..<place + 2, with: [UInt8(count >> 8), UInt8(count & 0xff)])
            }
        }
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        if (1...9).contains(count) {
            #expect(try await vault.unlockedLogin().itemCount == 1)
            if count > 1 { #expect(login.problem?.contains("key slots") == true) }
        } else {
            #expect(login.problem != nil)
        }
        await vault.close()
    }

    /// One of the largest size there is.
    @Test func largestSparseFile_vaultOpens() async throws {
        // Few file systems on disks have files of this size.
        let folder = TemporaryFolder(in: "/dev/shm/")
        try await prepare(folder)
        try #require(truncate(folder.file("login.keychain"), off_t.max) == 0)
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try #require(vault.collection(named: .login))
        await #expect(throws: VaultError.self) { try await login.unlock(with: Fixture.bytes(Fixture.password)) }
        #expect(vault.isOpen)
        await vault.close()
    }
}
