import KeychaindModel
import KeychaindVault
import Testing

/// Deletions of several items: all or none.
@VaultActor
@Suite struct JointDeletionTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        return (vault, try await vault.unlockedLogin())
    }

    @Test func deletion_ofSeveral_isStored() async throws {
        var (vault, login) = try await opened()
        let kept = try await login.add("kept", ["n": "kept"], secret: "kept")
        var deletions = [ItemDeletion(of: try await login.add("a", ["n": "a"]))]
        deletions.append(ItemDeletion(of: try await login.add("b", ["n": "b"])))
        let bank = try await login.protect("userPresence")
        deletions.append(ItemDeletion(of: bank, authenticated: true, at: login.revision(of: bank)))
        try await login.deleteItems(deletions)
        for _ in 0..<2 {
            #expect(login.itemIDs == [kept])
            #expect(login.search(["n": "a"]).isEmpty && login.search(["n": "kept"]) == [kept])
            #expect(!login.hasProtectedItems)
            #expect(login.problem == nil)
            await vault.close()
            (vault, login) = try await opened()
        }
        await vault.close()
    }

    @Test func oneThatIsRefused_keepsAll() async throws {
        var (vault, login) = try await opened()
        let first = try await login.add("first", ["n": "1"])
        let bank = try await login.protect("userPresence")
        let second = try await login.add("second", ["n": "2"])
        let before = login.revision(of: bank)
        try await login.updateItem(bank, label: "changed", authenticated: true)
        let gone = try await login.add("gone")
        try await login.deleteItem(gone)
        let refused: [(ItemDeletion, VaultError.Code)] = [
            (ItemDeletion(of: bank), .authenticationNeeded), (ItemDeletion(of: gone), .noSuchItem),
            (ItemDeletion(of: bank, authenticated: true, at: before), .busy), (ItemDeletion(of: first), .noSuchItem),
        ]
        for (deletion, code) in refused {
            let all = [ItemDeletion(of: first), deletion, ItemDeletion(of: second)]
            await #expect(throws: VaultError.of(code)) { try await login.deleteItems(all) }
        }
        #expect(login.itemIDs == [first, bank, second])
        // What was refused leaves no trace in the next change.
        let next = try await login.add("next", ["n": "3"])
        await vault.close()
        (vault, login) = try await opened()
        #expect(login.itemIDs == [first, bank, second, next])
        #expect(login.problem == nil)
        await vault.close()
    }

    @Test func deletions_besideOtherChanges_areWholeOrRefused() async throws {
        var (vault, login) = try await opened()
        var ids: [ItemID] = []
        for number in 0..<60 { ids.append(try await login.add("x", ["n": "\(number)"])) }
        let collection = login
        var tasks: [Task<Void, Never>] = []
        for start in stride(from: 0, to: 60, by: 3) {
            let three = Array(ids[start..<start + 3])
            let task = Task { @VaultActor in
                let update = Task { @VaultActor in try await collection.updateItem(three[0], label: "y") }
                let single = Task { @VaultActor in try await collection.deleteItem(three[1]) }
                let joint = Task { @VaultActor in try await collection.deleteItems(three.map { ItemDeletion(of: $0) }) }
                // It may come after the deletion of its item.
                _ = await update.result
                let results = (await single.result, await joint.result)
                let left = three.filter { id in collection.itemIDs.contains(id) }
                switch results {
                case (.success, .failure): #expect(left == [three[0], three[2]])
                case (.failure, .success): #expect(left.isEmpty)
                case (.success, .success), (.failure, .failure): Issue.record("both deletions, or neither: \(results)")
                }
            }
            tasks.append(task)
        }
        for task in tasks { await task.value }
        let left = login.itemIDs
        await vault.close()
        (vault, login) = try await opened()
        #expect(login.itemIDs == left)
        #expect(login.problem == nil)
        await vault.close()
    }
}
