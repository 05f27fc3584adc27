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
    private func item(in service: ProviderInProcess, _ attributes: Attributes) async throws -> (Collection, ItemID) {
        let login = try service.collection(.login)
        try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let creation = try await login.createItem(
            label: "of the host",
            attributes: attributes,
            secret: Secret(bytes: try ProviderInProcess.bytes("secret"), contentType: "text/plain"),
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
        #expect(login.item(id)?.label == "of the host")

        service.provider.sharedItems = { _, _ in [] }
        #expect(try await client.searchItems([:]).unlocked == [])
        await #expect(throws: BusError.noSuchObject) { try await client.secretText(of: path, session: session) }
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
