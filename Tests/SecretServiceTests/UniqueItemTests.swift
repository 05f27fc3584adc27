import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// `CreateItem` of `org.keychaind.Collection1`, and `Change` of `org.keychaind.Item1`, with unique attributes.
struct UniqueItemTests {
    @Test("creating an item with an existing key is AlreadyExists")
    func createItem_sameKey_alreadyExists() async throws {
        let (client, session) = try await SharedService.client()
        let key = ["service": "unique-1", "account": "a"]
        let item = try await client.createUnique(key.merging(["other": "1"]) { $1 }, ["service", "account"], session)
        #expect(try await client.secretText(of: item, session: session) == "secret")
        await #expect(throws: BusError.alreadyExists) {
            try await client.createUnique(key.merging(["other": "2"]) { $1 }, ["service", "account"], session)
        }
        #expect(try await client.searchItems(key).unlocked == [item])
    }

    @Test("a missing attribute equals another missing one and an empty value")
    func createItem_missingAttribute_counts() async throws {
        let (client, session) = try await SharedService.client()
        let names = ["service", "port"]
        _ = try await client.createUnique(["service": "unique-2"], names, session)
        _ = try await client.createUnique(["service": "unique-2", "port": ""], names, session)
        await #expect(throws: BusError.alreadyExists) {
            try await client.createUnique(["service": "unique-2"], names, session)
        }
    }

    @Test("one of many concurrent creations succeeds")
    func createItem_manyAtOnce_oneSucceeds() async throws {
        let clients = try await (SharedService.client(), SharedService.client())
        let made = await withTaskGroup(of: Bool.self) { group in
            for (client, session) in [clients.0, clients.1, clients.0, clients.1] {
                group.addTask {
                    (try? await client.createUnique(["service": "unique-3"], ["service"], session)) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        #expect(try await clients.0.0.searchItems(["service": "unique-3"]).unlocked.count == 1)
    }

    @Test("a replaced item is no duplicate of itself")
    func createItem_replacing_replaces() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createUnique(["service": "unique-4"], ["service"], session)
        let again = try await client.createUnique(["service": "unique-4"], ["service"], session, replace: true)
        #expect(again == item)
    }

    @Test("a key without names is refused")
    func createItem_noNames_isRefused() async throws {
        let (client, session) = try await SharedService.client()
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await client.createUnique(["service": "unique-5"], [], session)
        }
    }

    @Test("a change to its own or a free key sets both at once")
    func change_ownKeyOrFreeOne_setsBothAtOnce() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createUnique(["service": "unique-6"], ["service"], session)
        try await client.change(item, ["service": "unique-6", "more": "1"], ["service"])
        try await client.change(item, ["service": "unique-7"], ["service"], secret: "new", in: session)
        #expect(try await client.secretText(of: item, session: session) == "new")
        #expect(try await client.searchItems(["service": "unique-7"]).unlocked == [item])
        #expect(try await client.searchItems(["service": "unique-6"]).unlocked.isEmpty)
        let label = try await client.call(
            item,
            "org.freedesktop.DBus.Properties",
            "Get",
            "org.freedesktop.Secret.Item",
            "Label"
        ).read(Variant.self)
        #expect(label == .string("changed"))
    }

    @Test("a change to another item's key is AlreadyExists and changes nothing")
    func change_keyOfAnother_alreadyExists_andNothingChanges() async throws {
        let (client, session) = try await SharedService.client()
        let first = try await client.createUnique(["service": "unique-8"], ["service"], session)
        let second = try await client.createUnique(["service": "unique-9"], ["service"], session)
        await #expect(throws: BusError.alreadyExists) {
            try await client.change(second, ["service": "unique-8"], ["service"], secret: "new", in: session)
        }
        #expect(try await client.secretText(of: second, session: session) == "secret")
        #expect(try await client.label(of: second) == "label")
        #expect(try await client.searchItems(["service": "unique-8"]).unlocked == [first])
        #expect(try await client.searchItems(["service": "unique-9"]).unlocked == [second])
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await client.change(second, ["service": "unique-9"], [])
        }
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await client.change(second, nil, ["service"], secret: "new", in: session)
        }
    }

    @Test("one of many concurrent changes and creations with the same key succeeds")
    func change_manyAtOnce_oneSucceeds() async throws {
        let (client, session) = try await SharedService.client()
        var items: [ObjectPath] = []
        for number in 0..<4 {
            items.append(try await client.createUnique(["service": "unique-10-\(number)"], ["service"], session))
        }
        let made = await withTaskGroup(of: Bool.self) { group in
            for item in items {
                group.addTask {
                    (try? await client.change(item, ["service": "unique-11"], ["service"])) != nil
                }
                group.addTask {
                    (try? await client.createUnique(["service": "unique-11"], ["service"], session)) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        #expect(try await client.searchItems(["service": "unique-11"]).unlocked.count == 1)
    }

    @Test("a change that waits for another one with its key is refused if the screen is locked meanwhile", .onLoop)
    @BusActor
    func change_screenIsLockedWhileItWaits_isRefused() async throws {
        let service = try await ProviderInProcess()
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let client = service.client
        let session = try await client.openPlainSession()
        let attributes = ["service": "mail", Reserved.accessible: "whenUnlocked"]
        let item = try await client.createItem(in: .login, "Mail", attributes, session: session)
        let gate = AdmissionGate()
        service.vault.admission = gate
        func change(to secret: String) -> Task<Void, any Error> {
            Task { @BusActor in try await client.change(item, attributes, ["service"], secret: secret, in: session) }
        }
        let first = change(to: "first")
        try #require(await gate.begun.wait(within: Patience.limit))
        let second = change(to: "second")
        // The call is sent during the first one and has arrived before the second answer.
        try await client.roundTrip()
        try await client.roundTrip()
        service.provider.setSessionLocked(true)
        gate.open()
        try await first.value
        await #expect(throws: BusError.isLocked) { try await second.value }
        service.provider.setSessionLocked(false)
        #expect(try await client.secretText(of: item, session: session) == "first")
        await service.vault.close()
    }

    @Test(
        "a change that waits for its key loses its authorisation if the screen or the keychain is locked meanwhile",
        .onLoop,
        arguments: [false, true]
    )
    @BusActor
    func change_lockedWhileItWaits_losesItsAuthorization(isScreen: Bool) async throws {
        let service = try await ProviderInProcess()
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let (client, other) = (service.client, try SecretServiceProxy(on: service.bus))
        let session = try await client.openPlainSession()
        let bank = try await client.createProtectedItem("Bank", ["service": "bank"], session: session)
        let mail = try await client.createItem(in: .login, "Mail", ["service": "mail"], session: session)
        let mailID = try #require(login.itemIDs.last)
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let context = try await ContextClient(client)
        #expect(try await !client.complete(try await context.authorize("change", [bank]).prompt).isDismissed)
        let gate = AdmissionGate()
        service.vault.admission = gate
        let first = Task { @BusActor in try await other.change(mail, ["service": "shop"], ["service"]) }
        try #require(await gate.begun.wait(within: Patience.limit))
        let attributes = ["service": "shop", Reserved.accessControl: "userPresence"]
        let second = Task { @BusActor in try await client.change(bank, attributes, ["service"]) }
        // The call is sent during the first one and has arrived before the second answer.
        try await client.roundTrip()
        try await client.roundTrip()
        service.vault.admission = nil
        // The first change fails, and leaves its key to the second one.
        try await login.deleteItem(mailID)
        if isScreen {
            service.provider.setSessionLocked(true)
            service.provider.setSessionLocked(false)
        } else {
            service.provider.lockCollections { name in name == "login" }
            try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        }
        gate.open()
        await #expect(throws: BusError.self) { try await first.value }
        await #expect(throws: BusError.isLocked) { try await second.value }
        #expect(try await client.label(of: bank) == "Bank")
        #expect(prompter.questions.count == 1)
        await service.vault.close()
    }
}

/// Calls that wait for a person hold up no other with the same unique attributes.
struct UniqueItemDialogTests {
    @Test("a change that waits for a person lets others store items with its key, and is then AlreadyExists")
    func change_waitsForAPerson_othersWrite() async throws {
        try await RunningService.withPrompter([.answer("password"), .hang]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            try await unlock(item, as: client)
            let mark = prompter.questions.count
            let attributes = ["service": "mail", Reserved.accessControl: "userPresence"]
            let change = Task { try await client.change(item, attributes, ["service"], secret: "new", in: session) }
            let question = try await prompter.questions.first("the dialog of the change", after: mark)
            let other = try await service.makeClient()
            let otherSession = try await other.openPlainSession()
            let made = try await other.createUnique(["service": "mail"], ["service"], otherSession)
            await prompter.respond(.answer("password"), to: question)
            await #expect(throws: BusError.alreadyExists) { try await change.value }
            #expect(try await other.searchItems(["service": "mail"]).unlocked == [made])
            #expect(try await client.label(of: item) == "Bank")
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("nobody is asked about a change to another item's key")
    func change_keyOfAnother_nobodyIsAsked() async throws {
        try await RunningService.withPrompter([.answer("password")]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            _ = try await client.createUnique(["service": "mail"], ["service"], session)
            try await unlock(item, as: client)
            let asked = prompter.questions.count
            let attributes = ["service": "mail", Reserved.accessControl: "userPresence"]
            await #expect(throws: BusError.alreadyExists) { try await client.change(item, attributes, ["service"]) }
            #expect(prompter.questions.count == asked)
        }
    }

    @Test("an item that is stored after a prompt is unique, too")
    func createItem_afterAPrompt_isUnique() async throws {
        try await RunningService.withPrompter([.answer("mine")]) { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let attributes = ["service": "mail", Reserved.accessControl: "applicationPassword"]
            var prompts: [ObjectPath] = []
            for _ in 0..<2 { prompts.append(try await client.promptForUnique(attributes, ["service"], session)) }
            let outcomes = [try await client.complete(prompts[0]), try await client.complete(prompts[1])]
            #expect(outcomes.map(\.isDismissed) == [false, true])
            let found = try await client.searchItems(["service": "mail"])
            #expect(found.unlocked.count + found.locked.count == 1)
            await #expect(throws: BusError.alreadyExists) {
                try await client.promptForUnique(attributes, ["service"], session)
            }
        }
    }

    /// Lets a client use an item for longer than dialogs take.
    private func unlock(_ item: ObjectPath, as client: SecretServiceProxy) async throws {
        let context = try await ContextClient(client)
        try await context.set("ReuseDuration", to: .uint32(300_000))
        _ = try await client.complete(context.unlock([item]).prompt)
    }
}

extension SecretServiceProxy {
    fileprivate func change(
        _ item: ObjectPath,
        _ attributes: [String: String]?,
        _ unique: [String],
        secret: String? = nil,
        in session: ObjectPath = ObjectPath(unchecked: "/")
    ) async throws(BusError) {
        var properties: [String: Variant] = [
            "org.freedesktop.Secret.Item.Label": .string("changed"), "org.keychaind.Item1.Unique": .strings(unique),
        ]
        properties["org.freedesktop.Secret.Item.Attributes"] = attributes.map(Variant.stringDictionary)
        let secrets = secret.map { [WireSecret(session: session, value: Array($0.utf8))] } ?? []
        try await call(item, "org.keychaind.Item1", "Change", properties, secrets)
    }

    @discardableResult
    fileprivate func createUnique(
        _ attributes: [String: String],
        _ unique: [String],
        _ session: ObjectPath,
        replace: Bool = false
    ) async throws(BusError) -> ObjectPath {
        try await create(attributes, unique, session, replace: replace).item
    }

    /// The prompt that stores an item.
    @discardableResult
    fileprivate func promptForUnique(
        _ attributes: [String: String],
        _ unique: [String],
        _ session: ObjectPath
    ) async throws(BusError) -> ObjectPath {
        try await create(attributes, unique, session, replace: false).prompt
    }

    private func create(
        _ attributes: [String: String],
        _ unique: [String],
        _ session: ObjectPath,
        replace: Bool
    ) async throws(BusError) -> (item: ObjectPath, prompt: ObjectPath) {
        try await call(
            Self.defaultAlias,
            "org.keychaind.Collection1",
            "CreateItem",
            Self.itemProperties(label: "label", attributes),
            WireSecret(session: session, value: Array("secret".utf8)),
            replace,
            unique
        ).read(ObjectPath.self, ObjectPath.self)
    }
}
