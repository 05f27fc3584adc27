import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// What a program in a sandbox can store in a keychain.
@Suite(.onLoop)
struct SandboxQuotaTests {
    enum Caller: CaseIterable {
        case sandbox, unconfirmed, outside
    }

    /// A provider with an unlocked `login`.
    @BusActor
    private func service(
        for caller: Caller,
        items: Int = 100,
        bytes: Int = 64 << 10
    ) async throws -> ProviderInProcess {
        var limits = VaultLimits()
        (limits.sandboxItems, limits.sandboxBytes) = (items, bytes)
        let service: ProviderInProcess
        switch caller {
        case .sandbox:
            let sandbox = Confinement.sandbox(.flatpak("org.example.Chat"))
            service = try await ProviderInProcess(vaultLimits: limits, confinement: sandbox)
        case .unconfirmed: service = try await .unconfirmed(vaultLimits: limits)
        case .outside: service = try await ProviderInProcess(vaultLimits: limits)
        }
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        return service
    }

    /// Stores several items at once, and returns those that are stored.
    @BusActor
    private func store(_ count: Int, in service: ProviderInProcess, _ session: ObjectPath) async -> [ObjectPath] {
        let calls = (0..<count).map { number in
            Task { @BusActor in
                try await service.client.createItem("\(number)", ["n": "\(number)"], session: session)
            }
        }
        var stored: [ObjectPath] = []
        for call in calls {
            switch await call.result {
            case .success(let path): stored.append(path)
            case .failure(let error): #expect(error as? BusError == .limitsExceeded)
            }
        }
        return stored
    }

    @Test("#48 more items than a sandboxed program may have are LimitsExceeded", arguments: Caller.allCases)
    @BusActor
    func items_areLimited(caller: Caller) async throws {
        let service = try await service(for: caller, items: 3)
        let session = try await service.client.openPlainSession()
        let stored = await store(8, in: service, session)
        #expect(try service.collection(.login).itemCount == stored.count)
        guard caller != .outside else {
            #expect(stored.count == 8)
            return
        }
        try #require(stored.count == 3)
        let attributes = try await service.client.attributes(of: stored[0])
        let replaced = try await service.client.createItem("x", attributes, session: session, replace: true)
        #expect(replaced == stored[0])
        #expect(try await service.client.deleteItem(stored[0]) == .root)
        #expect(await store(2, in: service, session).count == 1)
    }

    @Test("#48 what makes the items of a sandboxed program too large is LimitsExceeded", arguments: Caller.allCases)
    @BusActor
    func bytes_areLimited(caller: Caller) async throws {
        let service = try await service(for: caller, bytes: 16 << 10)
        let (client, session) = (service.client, try await service.client.openPlainSession())
        func secret(_ count: Int) -> WireSecret {
            WireSecret(session: session, value: [UInt8](repeating: 1, count: count))
        }
        let large = try await client.createItem(properties: [:], secret: secret(10 << 10)).item
        let small = try await client.createItem(properties: [:], secret: secret(4 << 10)).item
        let text = String(repeating: "x", count: 4 << 10)
        let growing: [() async throws -> Void] = [
            { _ = try await client.createItem(properties: [:], secret: secret(4 << 10)) },
            { try await client.setSecret(secret(8 << 10), of: small) },
            { try await client.setProperty("Label", of: small, Interface.item, to: .string(text)) },
            { try await client.setProperty("Type", of: small, Interface.item, to: .string(text)) },
            {
                let attributes = Variant.stringDictionary(["n": text])
                try await client.setProperty("Attributes", of: small, Interface.item, to: attributes)
            },
        ]
        guard caller != .outside else {
            for change in growing { try await change() }
            return
        }
        for change in growing { await #expect(throws: BusError.limitsExceeded) { try await change() } }
        #expect(try service.collection(.login).itemCount == 2)
        #expect(try await client.secret(of: small, session: session).value.count == 4 << 10)
        try await client.setSecret(secret(6 << 10), of: large)
        try await growing[0]()
        await #expect(throws: BusError.limitsExceeded) { try await client.setSecret(secret(10 << 10), of: large) }
    }

    @Test("A program that has more than the quota can change its items to smaller ones, and delete them")
    @BusActor
    func itemsPastTheQuota_canShrink() async throws {
        let service = try await service(for: .sandbox, bytes: 1 << 10)
        let (client, session) = (service.client, try await service.client.openPlainSession())
        let item = try await client.createItem("small", session: session)
        let login = try service.collection(.login)
        let id = try #require(login.itemIDs.first)
        try await login.updateItem(id, secret: Secret(bytes: SecureBytes(count: 8 << 10), contentType: "text/plain"))
        try await client.setSecret(WireSecret(session: session, value: [UInt8](repeating: 1, count: 4 << 10)), of: item)
        try await client.setProperty("Label", of: item, Interface.item, to: .string("less"))
        await #expect(throws: BusError.limitsExceeded) {
            try await client.setProperty("Label", of: item, Interface.item, to: .string("larger"))
        }
        #expect(try await client.deleteItem(item) == .root)
    }
}
