import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// What a program in a sandbox gets besides its own items.
@Suite(.onLoop)
struct SharedItemTests {
    @BusActor
    private func item(
        in service: ProviderInProcess,
        _ attributes: Attributes,
        secret: String = "secret"
    ) async throws -> (Collection, ItemID) {
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let creation = try await login.createItem(
            label: "of the host",
            attributes: attributes,
            secret: Secret(bytes: try ProviderInProcess.bytes(secret), contentType: "text/plain"),
            replacing: false
        )
        return (login, creation.id)
    }

    @Test("An item that a rule shares is there for reading, and gone once the rule is")
    @BusActor
    func sharedItem_isReadUntilTakenBack() async throws {
        let service = try await ProviderInProcess(confinement: .sandbox(.flatpak("org.example.Chat")))
        let (login, id) = try await item(in: service, ["service": "bank"])
        let (client, path) = (service.client, ObjectPath(unchecked: "\(ObjectPath.login.rawValue)/\(id)"))
        let session = try await client.openPlainSession()
        #expect(try await client.searchItems(["service": "bank"]).unlocked == [])
        await #expect(throws: BusError.noSuchObject) { try await client.secretText(of: path, session: session) }

        service.provider.sharedItems = { program, collection in
            program == "flatpak:org.example.Chat" && collection === login ? [id] : []
        }
        #expect(try await client.searchItems(["service": "bank"]).unlocked == [path])
        #expect(try await client.searchItems(["service": "other"]).unlocked == [])
        #expect(try await client.secretText(of: path, session: session) == "secret")
        await #expect(throws: BusError.accessDenied) {
            try await client.setProperty("Label", of: path, Interface.item, to: .string("mine"))
        }
        await #expect(throws: BusError.accessDenied) { try await client.deleteItem(path) }
        await #expect(throws: BusError.accessDenied) { try await client.deleteItems([path], in: .login) }
        #expect(login.item(id)?.label == "of the host")

        service.provider.sharedItems = { _, _ in [] }
        #expect(try await client.searchItems([:]).unlocked == [])
        await #expect(throws: BusError.noSuchObject) { try await client.secretText(of: path, session: session) }
    }

    @Test("A program in a sandbox deletes a protected item that it has stored without a dialog, and reads it with one")
    @BusActor
    func protectedItem_ownOfTheSandbox_isDeleted() async throws {
        let service = try await ProviderInProcess(confinement: .sandbox(.flatpak("org.example.Chat")))
        let protected = ["service": "bank", Reserved.accessControl: "devicePasscode"]
        let (login, foreign) = try await item(in: service, Attributes(protected.map { ($0.key, $0.value) }))
        service.provider.sharedItems = { _, collection in collection === login ? [foreign] : [] }
        let client = service.client
        let session = try await client.openPlainSession()
        var paths: [ObjectPath] = []
        for number in 0..<3 {
            let attributes = protected.merging(["number": "\(number)"]) { $1 }
            paths.append(try await client.createItem(in: .login, "Bank", attributes, session: session))
        }
        await #expect(throws: BusError.isLocked) { try await client.secretText(of: paths[0], session: session) }
        #expect(try await client.deleteItem(paths[0]) == .root)
        let context = try await ContextClient(client)
        #expect(try await context.authorize("delete", [paths[1]]).authorized == [paths[1]])
        try await client.deleteItems(Array(paths[1...]), in: .login)
        await #expect(throws: BusError.accessDenied) {
            try await client.deleteItem(ObjectPath(unchecked: "\(ObjectPath.login.rawValue)/\(foreign)"))
        }
        #expect(login.itemIDs == [foreign])
    }

    /// How a program reads an item.
    enum Reading: CaseIterable {
        case one, several, searched

        /// The number of secrets that the program gets.
        @BusActor
        func secrets(
            of item: ObjectPath,
            by client: SecretServiceProxy,
            _ session: ObjectPath
        ) async throws(BusError) -> Int {
            switch self {
            case .one:
                do throws(BusError) {
                    _ = try await client.secret(of: item, session: session)
                    return 1
                } catch  where error == .noSuchObject {
                    return 0
                }
            case .several:
                return try await client.secrets(of: [item], session: session).count
            case .searched:
                return try await client.find([["service": "bank"]], session: session).secrets.count
            }
        }
    }

    @Test("An item that a rule shares is not read if the rule ends at any time during the read")
    @BusActor
    func sharedItem_ruleEndsDuringTheRead_isNotRead() async throws {
        let service = try await ProviderInProcess(confinement: .sandbox(.flatpak("org.example.Chat")))
        // Too long to stay in memory: the read waits for the disk.
        let secret = String(repeating: "s", count: 10_000)
        let (_, id) = try await item(in: service, ["service": "bank"], secret: secret)
        let (client, path) = (service.client, ObjectPath(unchecked: "\(ObjectPath.login.rawValue)/\(id)"))
        let session = try await client.openPlainSession()
        for reading in Reading.allCases {
            var looks = 0
            service.provider.sharedItems = { _, _ in
                looks += 1
                return [id]
            }
            #expect(try await reading.secrets(of: path, by: client, session) == 1)
            // Before the wait, and after it.
            #expect(looks > 1, "\(reading)")
            for end in 0..<looks {
                looks = 0
                service.provider.sharedItems = { _, _ in
                    looks += 1
                    return looks > end ? [] : [id]
                }
                #expect(try await reading.secrets(of: path, by: client, session) == 0, "\(reading) \(end)")
            }
        }
    }

    @Test("A sandbox without a proven name sees nothing, and stores nothing")
    @BusActor
    func unnamedSandbox_seesNothing() async throws {
        let service = try await ProviderInProcess(confinement: .unknown(reason: Text(verbatim: "forged")))
        let (_, id) = try await item(in: service, ["service": "bank"])
        let client = service.client
        service.provider.sharedItems = { _, _ in [id] }
        #expect(try await client.searchItems([:]).unlocked == [])
        let collections = try await client.property(
            "Collections",
            of: SecretServiceProxy.service,
            Interface.service,
            as: [ObjectPath].self
        )
        #expect(collections == [])
        await #expect(throws: BusError.noSuchObject) {
            try await client.properties(of: .login, Interface.collection)
        }
    }
}
