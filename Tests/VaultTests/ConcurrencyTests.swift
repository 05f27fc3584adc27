import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct ConcurrencyTests {
    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    @Test func create_hundredsConcurrently_allAreStored() async throws {
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        let tasks = (0..<400).map { number in
            Task { @VaultActor in (try await login.add("n", ["n": "\(number)"], secret: "\(number)"), number) }
        }
        var made: [ItemID: Int] = [:]
        for task in tasks {
            let (id, number) = try await task.value
            made[id] = number
        }
        #expect(made.count == 400)
        await vault.close()
        vault = try await opened()
        let reopened = try await vault.unlockedLogin()
        #expect(reopened.itemIDs == made.keys.sorted())
        for (id, number) in made {
            #expect(try await reopened.content(of: id) == Array("\(number)".utf8))
            #expect(reopened.search(["n": "\(number)"]) == [id])
        }
        #expect(reopened.problem == nil)
        await vault.close()
    }

    @Test func createWithReplace_sameAttributesConcurrently_createsOneItem() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let tasks = (0..<200).map { number in
            Task { @VaultActor in
                try await login.createItem(
                    label: "\(number)",
                    attributes: ["same": "yes"],
                    secret: Fixture.secret("\(number)"),
                    replacing: true
                )
            }
        }
        var created = 0
        var ids: Set<ItemID> = []
        for task in tasks {
            let outcome = try await task.value
            if case .created = outcome { created += 1 }
            ids.insert(outcome.id)
        }
        #expect(created == 1)
        #expect(ids.count == 1)
        #expect(login.itemIDs == Array(ids))
        await vault.close()
    }

    @Test func deletesRacingUpdates_updatesSucceedOrFindNoItem() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        var ids: [ItemID] = []
        for number in 0..<30 { ids.append(try await login.add("x", ["n": "\(number)"])) }
        var tasks: [Task<Bool, any Error>] = []
        for (index, id) in ids.enumerated() {
            for round in 0..<4 {
                tasks.append(
                    Task { @VaultActor in
                        do {
                            try await login.updateItem(id, label: "\(round)", secret: Fixture.secret("\(round)"))
                            return true
                        } catch let error as VaultError where error.code == .noSuchItem {
                            return false
                        }
                    }
                )
                if round == index % 4 {
                    tasks.append(
                        Task { @VaultActor in
                            try await login.deleteItem(id)
                            return true
                        }
                    )
                }
            }
        }
        for task in tasks { _ = try await task.value }
        #expect(login.itemCount == 0)
        #expect(login.search([:]).isEmpty)
        await vault.close()
        let reopened = try await opened()
        #expect(try await reopened.unlockedLogin().itemCount == 0)
        #expect(reopened.collection(named: .login)?.problem == nil)
        await reopened.close()
    }

    @Test func deleteTwiceConcurrently_oneFails() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let id = try await login.add()
        let tasks = (0..<2).map { _ in Task { @VaultActor in try await login.deleteItem(id) } }
        var failures = 0
        for task in tasks {
            if case .failure(let error) = await task.result {
                #expect(error as? VaultError == VaultError(.noSuchItem, reason: ""))
                failures += 1
            }
        }
        #expect(failures == 1)
        await vault.close()
    }

    @Test func lockRacingWrites_acknowledgedAreStored_othersFailLocked() async throws {
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        var acknowledged: Set<ItemID> = []
        for round in 0..<10 {
            let tasks = (0..<40).map { number in
                Task { @VaultActor in
                    // Locks somewhere in between.
                    if number == round * 4 { login.lock() }
                    return try await login.add("x", ["n": "\(round).\(number)"])
                }
            }
            for task in tasks {
                switch await task.result {
                case .success(let id): acknowledged.insert(id)
                case .failure(let error): #expect(error as? VaultError == VaultError(.locked, reason: ""))
                }
            }
            try await login.unlock(with: Fixture.bytes(Fixture.password))
            #expect(Set(login.itemIDs) == acknowledged)
        }
        await vault.close()
        vault = try await opened()
        #expect(try await Set(vault.unlockedLogin().itemIDs) == acknowledged)
        await vault.close()
    }

    @Test func close_withPendingWrites_acknowledgedAreStored() async throws {
        var vault = try await opened()
        let login = try await vault.unlockedLogin()
        let tasks = (0..<50).map { number in Task { @VaultActor in try await login.add("x", ["n": "\(number)"]) } }
        _ = try await tasks[0].value
        await vault.close()
        var acknowledged: Set<ItemID> = []
        for task in tasks {
            if case .success(let id) = await task.result { acknowledged.insert(id) }
        }
        #expect(!acknowledged.isEmpty)
        vault = try await opened()
        #expect(try await Set(vault.unlockedLogin().itemIDs) == acknowledged)
        await vault.close()
    }

    @Test func impossibleChange_inABatch_failsAlone() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let missing = try #require(ItemID(rawValue: 999))
        let good = (0..<20).map { number in Task { @VaultActor in try await login.add("x", ["n": "\(number)"]) } }
        let bad = Task { @VaultActor in try await login.updateItem(missing, label: "x") }
        let more = (20..<40).map { number in Task { @VaultActor in try await login.add("x", ["n": "\(number)"]) } }
        for task in good + more { _ = try await task.value }
        await #expect(throws: VaultError(.noSuchItem, reason: "")) { try await bad.value }
        #expect(login.itemCount == 40)
        await vault.close()
    }

    @Test func renames_concurrently_theLastWins() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let tasks = (0..<10).map { number in Task { @VaultActor in try await login.setLabel("\(number)") } }
        for task in tasks { try await task.value }
        let label = login.label
        #expect(Int(label) != nil)
        await vault.close()
        let reopened = try await opened()
        #expect(reopened.collection(named: .login)?.label == label)
        await reopened.close()
    }

    @Test func thousandsOfWaitingChanges_oneMoreIsAccepted() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let renaming = (0..<5000).map { number in Task { @VaultActor in try await login.setLabel("\(number)") } }
        let adding = Task { @VaultActor in try await login.add() }
        let id = try await adding.value
        for task in renaming { try await task.value }
        #expect(login.itemIDs == [id])
        #expect(Int(login.label) != nil)
        await vault.close()
    }

    @Test func conflictingChangesOfOneClient_delayAnotherByOneBatch_andStayInOrder() async throws {
        @VaultActor final class Client: WorkProgram { var settled = 0 }
        let (first, second) = (Client(), Client())
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        let (disputed, last, other) = (try await login.add(), try await login.add(), try await login.add())
        let changes = (0..<20).map { _ in (disputed, first) } + [(last, first), (other, second)]
        let tasks = changes.enumerated().map { number, change in
            let (id, client) = change
            return Task { @VaultActor in
                try await WorkOwner.$current.withValue(.program(client)) {
                    let settledBefore = first.settled
                    try await login.updateItem(id, setting: "n", to: "\(number)")
                    client.settled += 1
                    return settledBefore
                }
            }
        }
        var settledBefore = 0
        for task in tasks { settledBefore = try await task.value }
        await vault.close()
        let image = try folder.image()
        let numbers = try [other, disputed, last].map { id in
            Int(try image.last(LogImage.item, id.rawValue).sequence)
        }
        // A commit with one change has two frames, and that with both clients' has three.
        let revisions = numbers.map { number in number / 2 }
        // One change was being written when the other client's came, and one goes with it.
        #expect(revisions[1] - revisions[0] >= 18 - settledBefore)
        #expect(revisions[2] - revisions[1] == 1)
    }
}
