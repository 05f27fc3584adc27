import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// The file `state`.
@VaultActor
@Suite struct StateFileTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    @Test func lockout_survivesACrash() async throws {
        var vault = try await opened()
        #expect(vault.lockout(of: .people) == .none)
        try await vault.setLockout([1, 2, 3], of: .people)
        #expect(vault.lockout(of: .people) == .record([1, 2, 3]))
        let copy = try folder.snapshot()
        let survivor = try await Vault.opened(Fixture.configuration(copy))
        #expect(survivor.lockout(of: .people) == .record([1, 2, 3]))
        await survivor.close()
        try await vault.setLockout([], of: .people)
        await vault.close()
        #expect(vault.lockout(of: .people) == .none)
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .record([]))
        await vault.close()
        await #expect(throws: VaultError.of(.storageFailed)) { try await vault.setLockout([1], of: .people) }
    }

    @Test func lockout_tooLong_isRefused() async throws {
        let vault = try await opened()
        try await vault.setLockout([UInt8](repeating: 1, count: 4096), of: .people)
        await #expect(throws: VaultError.of(.limitExceeded)) {
            try await vault.setLockout([UInt8](repeating: 1, count: 4097), of: .people)
        }
        await vault.close()
    }

    @Test func lockout_damagedFile_isUnreadable() async throws {
        var vault = try await opened()
        try await vault.setLockout([1], of: .people)
        await vault.close()
        try folder.write(Array("no log at all".utf8), to: "state")
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .unreadable)
        #expect(folder.names.contains("state.unreadable"))
        try await vault.setLockout([2], of: .people)
        await vault.close()
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .record([2]))
        await vault.close()
    }

    @Test func lockout_readOnlyFolder_isKeptInMemory() async throws {
        try folder.makeReadOnly()
        defer { folder.makeWritable() }
        let vault = try await opened()
        await #expect(throws: VaultError.of(.readOnly)) { try await vault.setLockout([7], of: .people) }
        #expect(vault.lockout(of: .people) == .record([7]))
        await vault.close()
    }

    @Test func lockouts_ofPeopleAndPrograms_areSeparate() async throws {
        var vault = try await opened()
        try await vault.setLockout([1], of: .programs)
        #expect(vault.lockout(of: .people) == .none)
        try await vault.setLockout([2], of: .people)
        await vault.close()
        vault = try await opened()
        #expect(vault.lockout(of: .programs) == .record([1]))
        #expect(vault.lockout(of: .people) == .record([2]))
        await vault.close()
    }

    @Test func laterFormat_isNotWrittenTo() async throws {
        var vault = try await opened()
        try await vault.setLockout([1], of: .people)
        await vault.close()
        // Both copies of the header, whose marks are digests.
        try folder.tamper("state") { image in
            for place in [0, 4096] {
                image.bytes[place + 11] = 2
                let mark = try HashFunction.sha256.digest(of: Array(image.bytes[place..<place + 64])).prefix(16)
                image.bytes.replaceSubrange(place + 64..<place + 80, with: mark)
            }
        }
        let before = try folder.bytes(of: "state")
        vault = try await opened()
        #expect(vault.lockout(of: .people) == .unreadable)
        await #expect(throws: VaultError.of(.unsupportedFormat)) { try await vault.setLockout([2], of: .people) }
        await vault.close()
        #expect(try folder.bytes(of: "state") == before)
        #expect(!folder.names.contains("state.unreadable"))
    }

    @Test func flippedBit_anywhere_vaultOpensAndStoresAgain() async throws {
        var vault = try await opened()
        let id = try await vault.unlockedLogin().add()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        try await vault.setLockout([1, 2, 3], of: .people)
        for number in 0..<10 {
            vault.audit(AuditEntry(time: .now(), kind: .denial, outcome: "\(number)"), in: .attended)
        }
        await vault.close()
        let whole = try folder.image("state")
        var wereSetAside = 0
        for place in Array(stride(from: 0, to: whole.end, by: 397)).sample(oneIn: 2) {
            var bytes = whole.bytes
            bytes[place] ^= 0x40
            try folder.write(bytes, to: "state")
            vault = try await opened()
            let login = try await vault.unlockedLogin()
            #expect(try await login.content(of: id) == Array("secret".utf8), "byte \(place)")
            if folder.names.contains("state.unreadable") {
                wereSetAside += 1
                #expect(vault.lockout(of: .people) == .unreadable)
                #expect(try folder.bytes(of: "state.unreadable") == bytes)
                folder.remove("state.unreadable")
            }
            // Later writes must be stored and the audit must not lose entries silently.
            try await vault.setAlias("other", to: login)
            vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "afterwards"), in: .attended)
            await vault.close()
            vault = try await opened()
            #expect(vault.collection(forAlias: "other")?.name == .login, "byte \(place)")
            _ = try await vault.unlockedLogin()
            #expect(try await vault.auditEntries().first?.outcome == "afterwards", "byte \(place)")
            await vault.close()
        }
        #expect(wereSetAside > 0)
    }

    @Test func auditDamaged_aliasesAreKept() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        vault.audit(AuditEntry(time: .now(), kind: .release, outcome: "x"), in: .attended)
        try await vault.syncAudit()
        try await vault.setAlias("mine", to: vault.collection(named: .login))
        await vault.close()
        try folder.tamper("state") { image in image.flip(try image.last(2, 1).secret.lowerBound) }
        let bytes = try folder.bytes(of: "state")
        for _ in 0..<2 {
            vault = try await opened()
            #expect(vault.aliases == ["mine": .login])
            await vault.close()
        }
        #expect(try folder.bytes(of: "state.unreadable") == bytes)
    }
}
