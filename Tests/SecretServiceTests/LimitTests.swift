import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

struct LimitTests {
    @Test("#48 prompts above the limit are LimitsExceeded, without effect on other clients")
    func prompts_areLimited() async throws {
        let (client, _) = try await SharedService.client()
        let (other, _) = try await SharedService.client()
        var last = ObjectPath.root
        for _ in 0..<64 {
            last = try await client.createCollection([:]).prompt
        }
        await #expect(throws: BusError.limitsExceeded) { try await client.createCollection([:]) }
        #expect(try await other.createCollection([:]).prompt != .root)
        try await client.dismiss(last)
        #expect(try await client.createCollection([:]).prompt != .root)
    }

    @Test("#48 a secret of more than 16 MiB is LimitsExceeded and changes nothing")
    func secret_isLimited() async throws {
        let (client, session) = try await SharedService.client()
        let encrypted = try await EncryptedSession(with: client)
        let largest = [UInt8](repeating: 1, count: 16 << 20)
        let item = try await client.createItem(session: session)
        try await client.setSecret(encrypted.encrypt(largest), of: item)
        let tooLarge = WireSecret(session: session, value: largest + [1])
        await #expect(throws: BusError.limitsExceeded) { try await client.setSecret(tooLarge, of: item) }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.createItem(properties: [:], secret: tooLarge)
        }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.setSecret(encrypted.encrypt(largest + [1]), of: item)
        }
        #expect(try await client.secret(of: item, session: session).value == largest)
        #expect(try await client.deleteItem(item) == .root)
    }

    @Test("#48 #114 labels, attributes and content types are stored up to their limits, and LimitsExceeded above")
    func texts_areLimited() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["limit": "texts"], session: session)
        let label = String(repeating: "l", count: 64 << 10)
        let attributes = ["n": String(repeating: "v", count: 200 << 10), "limit": "texts"]
        let contentType = String(repeating: "t", count: 4 << 10)
        try await client.setProperty("Label", of: item, Interface.item, to: .string(label))
        try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(attributes))
        try await client.setSecret(WireSecret(session: session, value: [1], contentType: contentType), of: item)
        await #expect(throws: BusError.limitsExceeded) {
            try await client.setProperty("Label", of: item, Interface.item, to: .string(label + "l"))
        }
        await #expect(throws: BusError.limitsExceeded) {
            let tooLarge = ["n": String(repeating: "v", count: 256 << 10)]
            try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(tooLarge))
        }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.setSecret(
                WireSecret(session: session, value: [1], contentType: contentType + "t"),
                of: item
            )
        }
        #expect(try await client.label(of: item) == label)
        #expect(try await client.attributes(of: item) == attributes)
        #expect(try await client.secret(of: item, session: session).contentType == contentType)
        #expect(try await client.searchItems(attributes).unlocked == [item])
        #expect(try await client.deleteItem(item) == .root)
    }

    @Test("#48 secrets too large for one answer, also by the data beside them, are LimitsExceeded", .onLoop)
    @BusActor
    func getSecrets_answerIsLimited() async throws {
        var limits = ServiceLimits.patient
        limits.secretBytesPerReply = 100_000
        let service = try await opened(limits)
        let client = service.client
        let session = try await client.openPlainSession()
        try await client.setAlias("also", to: .login)
        for secret in [
            WireSecret(session: session, value: [UInt8](repeating: 1, count: 6000)),
            WireSecret(session: session, value: [], contentType: String(repeating: "t", count: 4 << 10)),
        ] {
            var items: [ObjectPath] = []
            for _ in 0..<16 { items.append(try await client.createItem(properties: [:], secret: secret).item) }
            let alias = ObjectPath.service.appending("aliases/also")
            let spellings = items + items.map { alias.appending($0.name) }
            #expect(try await client.secrets(of: items, session: session).count == items.count)
            await #expect(throws: BusError.limitsExceeded) { try await client.secrets(of: spellings, session: session) }
        }
        await service.vault.close()
    }

    @Test("#48 too many objects in one call are LimitsExceeded", .onLoop)
    @BusActor
    func objects_areLimited() async throws {
        var limits = ServiceLimits.patient
        limits.objectsPerCall = 10
        let service = try await ProviderInProcess(limits: limits)
        let client = service.client
        let session = try await client.openPlainSession()
        let most = [ObjectPath](repeating: .login, count: 10)
        #expect(try await client.unlock(most).prompt != .root)
        #expect(try await client.lock(most).locked == most)
        #expect(try await client.secrets(of: most, session: session).isEmpty)
        await #expect(throws: BusError.limitsExceeded) { try await client.unlock(most + [.login]) }
        await #expect(throws: BusError.limitsExceeded) { try await client.lock(most + [.login]) }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.secrets(of: most + [.login], session: session)
        }
        // The session is checked before the list is read.
        await #expect(throws: BusError.noSession) { try await client.secrets(of: most + [.login], session: .root) }
        let context = try await ContextClient(client)
        await #expect(throws: BusError.limitsExceeded) { try await context.unlock(most + [.login]) }
    }

    @Test("#48 too many items in one deletion are LimitsExceeded, and stay", .onLoop)
    @BusActor
    func deletions_areLimited() async throws {
        var limits = ServiceLimits.patient
        limits.deletionsPerCall = 2
        let service = try await opened(limits)
        let client = service.client
        let session = try await client.openPlainSession()
        var items: [ObjectPath] = []
        for _ in 0..<3 { items.append(try await client.createItem(session: session)) }
        await #expect(throws: BusError.limitsExceeded) { try await client.deleteItems(items, in: .login) }
        #expect(try await client.items(of: .login) == items)
        try await client.deleteItems(Array(items.prefix(2)), in: .login)
        #expect(try await client.items(of: .login) == [items[2]])
        await service.vault.close()
    }

    @Test("#48 too many attributes in a search and too many properties are LimitsExceeded")
    func searchesAndProperties_areLimited() async throws {
        let (client, session) = try await SharedService.client()
        let names = (0...4096).map { ("name \($0)", "value") }
        let most = Dictionary(uniqueKeysWithValues: names.dropLast())
        #expect(try await client.searchItems(most).unlocked.isEmpty)
        let tooMany = Dictionary(uniqueKeysWithValues: names)
        await #expect(throws: BusError.limitsExceeded) { try await client.searchItems(tooMany) }
        await #expect(throws: BusError.limitsExceeded) { try await client.searchItems(tooMany, in: .login) }
        let tooLong = ["name": String(repeating: "v", count: 256 << 10)]
        await #expect(throws: BusError.limitsExceeded) { try await client.searchItems(tooLong) }
        let properties = Dictionary(uniqueKeysWithValues: (0...1024).map { ("\($0)", Variant.boolean(true)) })
        await #expect(throws: BusError.limitsExceeded) { try await client.createCollection(properties) }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.createItem(properties: properties, secret: WireSecret(session: session, value: []))
        }
    }

    @Test("#48 too many items of a copy in one call are LimitsExceeded, before the copy is looked for")
    func labelsOfACopy_areLimited() async throws {
        let (client, _) = try await SharedService.client()
        let path = ObjectPath(unchecked: "/org/keychaind/Backups")
        let labels = [String](repeating: "label", count: 101)
        await #expect(throws: BusError.limitsExceeded) {
            try await client.call(path, "org.keychaind.Backups1", "RestoreItems", "none", labels)
        }
    }

    @Test("#48 prompts that hold too much data are LimitsExceeded, without effect on other clients", .onLoop)
    @BusActor
    func prompts_keepABoundedAmount() async throws {
        var limits = ServiceLimits.patient
        limits.bytesInPrompts = 1000
        let service = try await ProviderInProcess(limits: limits)
        let often = [ObjectPath](repeating: .login, count: 100)
        await #expect(throws: BusError.limitsExceeded) { try await service.client.unlock(often) }
        #expect(try await service.client.unlock([.login]).prompt != .root)
        await #expect(throws: BusError.limitsExceeded) {
            for _ in 0..<20 { _ = try await service.client.unlock([.login]) }
        }
        let other = try SecretServiceProxy(on: service.bus)
        #expect(try await other.unlock([.login]).prompt != .root)
    }

    @Test("#48 waiting calls above the limit are LimitsExceeded, and the others are answered", .onLoop)
    @BusActor
    func waitingCalls_areLimited() async throws {
        var limits = ServiceLimits.patient
        limits.waitingCalls = 20
        let service = try await opened(limits)
        let client = service.client
        let session = try await client.openPlainSession()
        let item = try await client.createItem(session: session)
        let hog = try RawClient(service.bus.address)
        for number in 0..<100 {
            let label = Variant.string("\(number)")
            hog.send(.toService(item, StandardInterface.properties, "Set", Interface.item, "Label", label))
        }
        let errors = await hog.replies(100).compactMap(\.error)
        #expect(errors.allSatisfy { $0 == .limitsExceeded } && (1...80).contains(errors.count))
        #expect(try await client.secretText(of: item, session: session) == "secret")
        await service.vault.close()
    }

    /// A service whose `login` is unlocked.
    @BusActor
    private func opened(_ limits: ServiceLimits) async throws -> ProviderInProcess {
        let service = try await ProviderInProcess(limits: limits)
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        return service
    }

    @Test("#48 #59 the name of an alias is limited")
    func alias_isLimited() async throws {
        try await RunningService.withService { service in
            let alias = String(repeating: "a", count: 100)
            try await service.client.setAlias(alias, to: .login)
            #expect(try await service.client.readAlias(alias) == .login)
            await #expect(throws: BusError.limitsExceeded) {
                try await service.client.setAlias(alias + "a", to: .login)
            }
            await #expect(throws: BusError.limitsExceeded) {
                try await service.client.createCollection([:], alias: alias + "a")
            }
        }
    }
}
