import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Damage of `state`: what was recorded may be missing, and that must not weaken a protection.
@VaultActor
@Suite struct DamagedStateTests {
    /// A crash after a protection, an alias and failed attempts were recorded.
    private func crash() async throws -> (folder: TemporaryFolder, item: ItemID) {
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        let item = try await login.add("x", ["n": "0"], secret: "kept")
        try await vault.setAlias("mine", to: login)
        try await vault.setLockout([1, 2, 3], of: .people)
        try await login.updateItem(item, attributes: .protected("userPresence"))
        try await vault.setLockout([4, 5, 6], of: .people)
        let copy = try folder.snapshot()
        await vault.close()
        return (copy, item)
    }

    // The last commit may be one that a crash has interrupted.
    @Test func damagedFrame_anywhereButInTheLastCommit_isTold_andFailedAttemptsCountAtTheirWorst() async throws {
        let (original, item) = try await crash()
        let image = try original.image("state")
        for (number, frame) in image.frames.dropLast().enumerated() {
            for place in [frame.range.lowerBound, frame.open.lowerBound + 3] {
                let folder = try original.snapshot()
                try folder.tamper("state") { image in image.flip(place) }
                let damaged = try folder.bytes(of: "state")
                for round in 0..<2 {
                    let vault = try await Vault.opened(Fixture.configuration(folder))
                    let login = try await vault.unlockedLogin()
                    // A past value that is damaged is noticed only by its header.
                    let isTold = folder.names.contains("state.unreadable")
                    #expect(isTold || place != frame.range.lowerBound, "frame \(number)")
                    if isTold, round == 0 {
                        #expect(login.problem?.contains("state was damaged") == true, "frame \(number)")
                        #expect(vault.lockout(of: .people) == .unreadable, "frame \(number)")
                        #expect(try folder.bytes(of: "state.unreadable") == damaged, "frame \(number)")
                    } else if isTold {
                        #expect(login.problem == nil, "frame \(number)")
                        // A record that was there does not become weaker with the next start.
                        #expect([.none, .record([])].contains(vault.lockout(of: .people)), "frame \(number)")
                    }
                    #expect(login.protection(of: item).needsAuthentication, "frame \(number)")
                    try await vault.setAlias("later", to: login)
                    await vault.close()
                }
                #expect(folder.names.filter { name in name.hasPrefix("state.") }.count <= 1)
            }
        }
    }

    /// The file goes back to the time before the protection, which only the lost ledger knew.
    @Test func lostLedger_andADamagedFile_leaveItemsInDoubt() async throws {
        let (folder, item) = try await crash()
        try folder.tamper { image in image.flip(try image.last(LogImage.item, item.rawValue).range.lowerBound) }
        folder.remove("state")
        for _ in 0..<2 {
            let vault = try await Vault.opened(Fixture.configuration(folder))
            let login = try await vault.unlockedLogin()
            #expect(login.item(item)?.condition != .intact)
            for id in login.itemIDs where login.item(id)?.condition == .intact {
                #expect(login.protection(of: id).needsAuthentication)
            }
            await vault.close()
        }
    }

    @Test func soundState_isNotTold() async throws {
        let (folder, _) = try await crash()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        #expect(try await vault.unlockedLogin().problem == nil)
        #expect(vault.lockout(of: .people) == .record([4, 5, 6]))
        #expect(vault.aliases["mine"] == .login)
        await vault.close()
    }
}
