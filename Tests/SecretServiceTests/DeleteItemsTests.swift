import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// `DeleteItems` of `org.keychaind.Collection1`.
struct DeleteItemsTests {
    @BusActor
    private final class Count {
        var value = 0
    }

    /// Creates items in `login`.
    private func makeItems(
        _ count: Int,
        by client: SecretServiceProxy,
        _ session: ObjectPath
    ) async throws -> [ObjectPath] {
        var items: [ObjectPath] = []
        for number in 0..<count {
            items.append(try await client.createItem("\(number)", ["n": "\(number)"], session: session))
        }
        return items
    }

    @BusActor
    private func opened() async throws -> ProviderInProcess {
        let service = try await ProviderInProcess()
        let password = try ProviderInProcess.bytes(ProviderInProcess.password)
        try await service.collection(.login).unlock(with: password)
        return service
    }

    @Test("all are deleted in one change, with a signal for each before the answer", .onLoop)
    @BusActor
    func items_areDeletedInOneChange() async throws {
        let service = try await opened()
        let client = service.client
        let items = try await makeItems(3, by: client, try await client.openPlainSession())
        let changes = Count()
        service.vault.admission = AdmissionWithEvent { changes.value += 1 }
        let mark = client.signals.count
        try await client.deleteItems([items[0], .defaultAlias.appending(items[1].name)], in: .login)
        try await client.roundTrip()
        let signals = client.signals.all.dropFirst(mark).filter { $0.member == "ItemDeleted" }
        #expect(signals.compactMap(\.objectPath) == items.prefix(2).map(\.rawValue))
        #expect(changes.value == 1)
        #expect(try await client.items(of: .login) == [items[2]])
        try await client.deleteItems([], in: .login)
        #expect(changes.value == 1)
        await service.vault.close()
    }

    @Test("one item that Delete refuses keeps all, with the error of Delete, and nobody is asked")
    func oneRefusedItem_keepsAll() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let plain = try await client.createItem("Mail", ["service": "mail"], session: session)
            let forbidden = try await client.createItem("Bank", ["service": "bank"], session: session)
            let protected = try await client.createProtectedItem("Safe", ["service": "safe"], session: session)
            let other = try await client.createItem(in: .sessionCollection, "Other", session: session)
            try await client.addRules("never \(ownIdentity) service=bank")
            let questions = prompter.questions.count
            let refused: [(ObjectPath, BusError)] = [
                (forbidden, BusError.accessDenied), (protected, BusError.notSupported), (other, BusError.invalidArgs),
                (plain, BusError.invalidArgs), (.login, BusError.invalidArgs),
                (.login.appending("999"), BusError.noSuchObject),
            ]
            for (item, error) in refused {
                await #expect(throws: error, "\(item)") { try await client.deleteItems([plain, item], in: .login) }
                await #expect(throws: error, "\(item)") { try await client.deleteItems([item, plain], in: .login) }
            }
            #expect(try await client.items(of: .login) == [plain, forbidden, protected])
            #expect(try await client.items(of: .sessionCollection) == [other])
            #expect(prompter.questions.count == questions)
            // Control: without the refused one.
            try await client.deleteItems([plain], in: .login)
            #expect(try await client.items(of: .login) == [forbidden, protected])
        }
    }

    @Test("protected items that a person allows to be deleted go with the others, and are in the audit")
    func authorizedItems_areDeleted() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let plain = try await client.createItem("Mail", ["service": "mail"], session: session)
            let bank = try await client.createProtectedItem("Bank", ["service": "bank"], session: session)
            let safe = try await client.createProtectedItem("Safe", ["service": "safe"], session: session)
            let context = try await ContextClient(client)
            let prompt = try await context.authorize("delete", [bank, safe]).prompt
            #expect(try await !client.complete(prompt).isDismissed)
            // No other program's.
            let attacker = try await service.makeClient()
            await #expect(throws: BusError.notSupported) {
                try await attacker.deleteItems([plain, bank, safe], in: .login)
            }
            try await client.deleteItems([plain, bank, safe], in: .login)
            #expect(try await client.items(of: .login).isEmpty)
            #expect(prompter.questions.count == 1)
            let entries = try await service.waitForEntries { $0.count { $0.kind == "deletion" } == 2 }
            let audited = entries.filter { $0.kind == "deletion" }.map(\.item)
            #expect(Set(audited) == [bank.rawValue, safe.rawValue])
        }
    }

    @Test("a refused deletion of several uses no permission to delete one of them")
    func refusedDeletion_keepsThePermissions() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let bank = try await client.createProtectedItem("Bank", ["service": "bank"], session: session)
            let safe = try await client.createProtectedItem("Safe", ["service": "safe"], session: session)
            let context = try await ContextClient(client)
            let prompt = try await context.authorize("delete", [bank]).prompt
            #expect(try await !client.complete(prompt).isDismissed)
            await #expect(throws: BusError.notSupported) { try await client.deleteItems([bank, safe], in: .login) }
            #expect(try await client.deleteItem(bank) == .root)
            #expect(try await client.items(of: .login) == [safe])
        }
    }

    @Test("nor does one for which another item has changed since its permission")
    func deletionWithAnOutdatedPermission_keepsTheOthers() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let bank = try await client.createProtectedItem("Bank", ["service": "bank"], session: session)
            let safe = try await client.createProtectedItem("Safe", ["service": "safe"], session: session)
            let deleting = try await ContextClient(client)
            let deletion = try await deleting.authorize("delete", [bank, safe]).prompt
            #expect(try await !client.complete(deletion).isDismissed)
            let changing = try await ContextClient(client)
            let change = try await changing.authorize("change", [safe]).prompt
            #expect(try await !client.complete(change).isDismissed)
            try await client.setProperty("Label", of: safe, Interface.item, to: .string("Strongbox"))
            await #expect(throws: BusError.notSupported) { try await client.deleteItems([bank, safe], in: .login) }
            #expect(try await client.deleteItem(bank) == .root)
            #expect(try await client.items(of: .login) == [safe])
        }
    }

    @Test("a keychain that is locked before the write, or before the call, keeps all", .onLoop)
    @BusActor
    func lockBeforeTheWrite_keepsAll() async throws {
        let service = try await opened()
        let client = service.client
        let items = try await makeItems(3, by: client, try await client.openPlainSession())
        service.vault.admission = AdmissionWithEvent { (try? service.collection(.login))?.lock() }
        await #expect(throws: BusError.isLocked) { try await client.deleteItems(items, in: .login) }
        service.vault.admission = nil
        await #expect(throws: BusError.isLocked) { try await client.deleteItems(items, in: .login) }
        let login = try service.collection(.login)
        try await login.unlock(with: try ProviderInProcess.bytes(ProviderInProcess.password))
        #expect(try await client.items(of: .login) == items)
        try await client.deleteItems(items, in: .login)
        #expect(try await client.items(of: .login).isEmpty)
        await service.vault.close()
    }
}
