import Foundation
import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Portal secrets of another provider, with a scripted desktop portal.
@Suite(.onLoop)
struct PortalImportTests {
    private static let secret = [UInt8](repeating: 7, count: 64)
    private static let other = [UInt8](repeating: 8, count: 64)
    private static let third = [UInt8](repeating: 9, count: 64)

    @Test("a program gets the imported secret, before and after a restart", arguments: ["org.example.App", ""])
    @BusActor
    func import_newApplication_wins(application: String) async throws {
        let first = try await PortalService()
        #expect(try await first.take(Self.secret, for: application))
        #expect(try await first.retrieve(application) == Self.secret)
        #expect(try await first.retrieve("org.example.Derived") != Self.secret)
        await first.service.vault.close()
        let second = try await PortalService(folder: first.service.folder)
        #expect(try await second.retrieve(application) == Self.secret)
        #expect(try await second.take(Self.secret, for: application) == false)
        await second.service.vault.close()
    }

    @Test("the first imported secret stays: the same one is taken as there, another one is refused")
    @BusActor
    func import_again_keepsTheFirst() async throws {
        let portal = try await PortalService()
        #expect(try await portal.take(Self.secret))
        #expect(try await portal.take(Self.secret) == false)
        await #expect(throws: BusError.alreadyExists) { try await portal.take(Self.other) }
        #expect(try await portal.retrieve() == Self.secret)
        await portal.service.vault.close()
    }

    @Test("of imports at once, one is taken")
    @BusActor
    func import_atOnce_takesOne() async throws {
        let portal = try await PortalService()
        let imports = (0..<8).map { number in
            let secret = [UInt8](repeating: UInt8(number), count: 64)
            return Task { @BusActor in (try? await portal.take(secret)) == true ? secret : nil }
        }
        var taken: [[UInt8]] = []
        for task in imports { taken += await task.value.map { [$0] } ?? [] }
        #expect(taken.count == 1)
        #expect(try await portal.retrieve() == taken.first)
        await portal.service.vault.close()
    }

    @Test("a program that has its derived secret keeps it, also after a restart")
    @BusActor
    func import_afterDerivedSecret_isRefused() async throws {
        let first = try await PortalService()
        let derived = try await first.retrieve()
        await #expect(throws: BusError.alreadyExists) { try await first.take(Self.secret) }
        #expect(try await first.take(Self.secret, for: "org.example.Other"))
        await first.service.vault.close()
        let second = try await PortalService(folder: first.service.folder)
        await #expect(throws: BusError.alreadyExists) { try await second.take(Self.secret) }
        #expect(try await second.retrieve() == derived)
        await second.service.vault.close()
    }

    @Test("without a place for its mark, a derived secret is not given out")
    @BusActor
    func retrieve_withoutState_fails() async throws {
        let first = try await PortalService()
        await first.service.vault.close()
        let state = first.service.folder.path("data/state")
        try FileManager.default.removeItem(atPath: state)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let second = try await PortalService(folder: first.service.folder)
        await #expect(throws: PortalRefusal(response: 2)) { try await second.retrieve() }
        await second.service.vault.close()
    }

    @Test("while login is locked nothing is imported")
    @BusActor
    func import_locked_isRefused() async throws {
        let portal = try await PortalService()
        try portal.service.collection(.login).lock()
        await #expect(throws: BusError.isLocked) { try await portal.take(Self.secret) }
        await portal.service.vault.close()
    }

    @Test("secrets of other sizes and long names are refused", arguments: [0, 1, 63, 65, 1 << 20])
    @BusActor
    func import_otherSize_isRefused(count: Int) async throws {
        let portal = try await PortalService()
        await #expect(throws: BusError.invalidArgs) { try await portal.take([UInt8](repeating: 1, count: count)) }
        let name = String(repeating: "a", count: 256)
        await #expect(throws: BusError.invalidArgs) { try await portal.take(Self.secret, for: name) }
        let session = portal.session
        let foreign = WireSecret(session: ObjectPath(unchecked: session.rawValue + "0"), value: Self.secret)
        await #expect(throws: BusError.noSession) { try await portal.take(foreign, for: "org.example.App") }
        #expect(try portal.service.collection(.login).itemCount == 0)
        await portal.service.vault.close()
    }

    @Test("no program reads, changes, uses or deletes an imported secret")
    @BusActor
    func importedSecret_isClosedToPrograms() async throws {
        let portal = try await PortalService()
        let (client, session) = (portal.client, portal.session)
        #expect(try await portal.take(Self.secret))
        let attributes = ["keychain:portal-application": "org.example.App"]
        let item = try #require(await client.searchItems(attributes).unlocked.first)
        #expect(try await client.label(of: item) == "Portal secret of org.example.App")
        let alias = ObjectPath(unchecked: item.rawValue.replacing("/collection/", with: "/aliases/"))
        for path in [item, alias] {
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: path, session: session) }
        }
        #expect(try await client.secrets(of: [item, alias], session: session).isEmpty)
        let found = try await client.find([attributes], session: session)
        #expect(found.secrets.isEmpty)
        await #expect(throws: BusError.invalidArgs) { try await client.sign([1], with: item) }

        let interface = SecretServiceProxy.Interface.item
        for (name, value) in [
            ("Label", .string("mine")), ("Attributes", .stringDictionary(["mine": "yes"])),
            ("Attributes", .stringDictionary(attributes.merging(["keychain:access-control": "devicePasscode"]) { $1 })),
            ("Type", .string("mine")),
        ] as [(String, Variant)] {
            await #expect(throws: BusError.accessDenied, "\(name)") {
                try await client.setProperty(name, of: item, interface, to: value)
            }
        }
        await #expect(throws: BusError.accessDenied) {
            let properties: [String: Variant] = [
                "org.freedesktop.Secret.Item.Attributes": .stringDictionary(["mine": "yes"]),
                "org.keychaind.Item1.Unique": .strings(["mine"]),
            ]
            try await client.call(item, "org.keychaind.Item1", "Change", properties, [WireSecret]())
        }
        for contentType in ["text/plain", "application/x-keychaind-portal-secret"] {
            let secret = WireSecret(session: session, value: Self.other, contentType: contentType)
            let error = contentType == "text/plain" ? BusError.accessDenied : .invalidArgs
            await #expect(throws: error) { try await client.setSecret(secret, of: item) }
        }
        await #expect(throws: BusError.accessDenied) { try await client.deleteItem(item) }
        await #expect(throws: BusError.accessDenied) { try await client.deleteItems([item], in: .login) }
        #expect(try await portal.retrieve() == Self.secret)
        await portal.service.vault.close()
    }

    @Test("no program makes an item that the portal takes for an imported one, nor replaces one")
    @BusActor
    func otherItems_areNotTheSecret() async throws {
        let portal = try await PortalService()
        let (client, session) = (portal.client, portal.session)
        let attributes = ["keychain:portal-application": "org.example.App"]
        let properties = SecretServiceProxy.itemProperties(label: "", attributes)
        await #expect(throws: BusError.invalidArgs) {
            let contentType = "application/x-keychaind-portal-secret"
            let secret = WireSecret(session: session, value: Self.other, contentType: contentType)
            _ = try await client.createItem(properties: properties, secret: secret)
        }
        let early = try await client.createItem("early", attributes, session: session)
        #expect(try await portal.take(Self.secret))
        for attributes in [attributes, [:]] {
            _ = try await client.createItem("late", attributes, session: session, replace: true)
        }
        #expect(try await portal.retrieve() == Self.secret)
        #expect(try await client.deleteItem(early) == .root)
        await portal.service.vault.close()
    }

    @Test("no more secrets are imported than the limit allows, also at once, whatever else is in the keychain")
    @BusActor
    func import_pastTheLimit_isRefused() async throws {
        var limits = ServiceLimits.patient
        limits.portalSecrets = 4
        let portal = try await PortalService(limits: limits)
        for number in 0..<8 {
            let attributes = ["keychain:portal-application": "org.example.\(number)"]
            _ = try await portal.client.createItem("other", attributes, session: portal.session)
        }
        let imports = (0..<8).map { number in
            Task { @BusActor in
                do throws(BusError) {
                    return try await portal.take(Self.secret, for: "org.example.\(number)") ? number : nil
                } catch {
                    #expect(error == .limitsExceeded)
                    return nil
                }
            }
        }
        var taken: [Int] = []
        for task in imports { taken += await task.value.map { [$0] } ?? [] }
        #expect(taken.count == 4)
        for number in taken {
            #expect(try await portal.take(Self.secret, for: "org.example.\(number)") == false)
            #expect(try await portal.retrieve("org.example.\(number)") == Self.secret)
        }
        await portal.service.vault.close()
    }

    @Test("a person replaces a secret, derived or imported; the replaced one is kept, and an undo brings it back")
    @BusActor
    func replace_isUndone() async throws {
        for imported in [Self.third, nil] {
            let portal = try await PortalService()
            let prompter = try FakePrompter(on: portal.service.bus, [.answer(ProviderInProcess.password)])
            await #expect(throws: BusError.noSuchObject) { try await portal.replace(with: Self.secret) }
            if let imported { _ = try await portal.take(imported) }
            let first = try await portal.retrieve()
            await #expect(throws: BusError.noSuchObject) { try await portal.undo() }
            #expect(try await portal.replace(with: Self.secret) == true)
            #expect(try await portal.retrieve() == Self.secret)
            #expect(try await portal.replace(with: Self.secret) == false)
            for expected in [first, Self.secret, first] {
                #expect(try await portal.undo() == true)
                #expect(try await portal.retrieve() == expected)
            }
            #expect(try await portal.replace(with: Self.other) == true)
            #expect(try await portal.undo() == true)
            #expect(try await portal.retrieve() == first)
            // Another one for each secret that was replaced, and no program reads or deletes it.
            let (client, login) = (portal.client, try portal.service.collection(.login))
            #expect(login.itemCount == 4)
            for item in try await client.items(of: .login) {
                await #expect(throws: BusError.accessDenied) {
                    try await client.secret(of: item, session: portal.session)
                }
                await #expect(throws: BusError.accessDenied) { try await client.deleteItem(item) }
            }
            prompter.crash()
            await portal.service.vault.close()
        }
    }

    @Test("a secret is replaced after the right answer only")
    @BusActor
    func replace_dismissed_changesNothing() async throws {
        let portal = try await PortalService()
        let prompter = try FakePrompter(on: portal.service.bus, [.cancel])
        let derived = try await portal.retrieve()
        #expect(try await portal.replace(with: Self.secret) == nil)
        #expect(try #require(prompter.questions.all.last?.text("description")).contains("can then not be read"))
        #expect(try await portal.retrieve() == derived)
        #expect(try portal.service.collection(.login).itemCount == 0)
        prompter.crash()
        try portal.service.collection(.login).lock()
        await #expect(throws: BusError.isLocked) { try await portal.replace(with: Self.secret) }
        await #expect(throws: BusError.isLocked) { try await portal.undo() }
        await portal.service.vault.close()
    }

    @Test("a program in a sandbox replaces no secret, even before a person has limited it")
    @BusActor
    func replace_inASandbox_isRefused() async throws {
        let service = try await ProviderInProcess.unconfirmed()
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        let (client, path) = (service.client, ObjectPath(unchecked: "/org/keychaind/Portal"))
        let secret = WireSecret(session: try await client.openPlainSession(), value: Self.secret)
        await #expect(throws: BusError.accessDenied) {
            try await client.call(path, "org.keychaind.Portal1", "Replace", "org.example.App", secret)
        }
        await #expect(throws: BusError.accessDenied) {
            try await client.call(path, "org.keychaind.Portal1", "Undo", "org.example.App")
        }
    }

    @Test("an import is audited")
    @BusActor
    func import_isAudited() async throws {
        let portal = try await PortalService()
        #expect(try await portal.take(Self.secret))
        try await eventually("an entry in the audit") {
            try await portal.service.vault.auditEntries(since: nil, limit: 10).contains { $0.kind == .portalImport }
        }
        await portal.service.vault.close()
    }
}

/// The response code of a portal that gives no secret.
struct PortalRefusal: Error, Equatable {
    let response: UInt32
}

/// A provider with an unlocked `login`, its backend, and the desktop portal that may call it.
@BusActor
final class PortalService {
    let service: ProviderInProcess
    let session: ObjectPath
    private let desktop: Connection
    private let backend: SecretPortal

    var client: SecretServiceProxy { service.client }

    init(limits: ServiceLimits = .patient, folder: TemporaryFolder? = nil) async throws {
        service = try await ProviderInProcess(limits: limits, folder: folder)
        let password = try ProviderInProcess.bytes(ProviderInProcess.password)
        try await service.collection(.login).unlock(with: password)
        session = try await service.client.openPlainSession()
        desktop = try service.bus.connect()
        _ = try desktop.requestName("org.freedesktop.portal.Desktop")
        backend = SecretPortal(provider: service.provider, connection: service.connection, logger: service.logger)
        guard await backend.start() else { throw BusError(.failed, "the name of the backend is taken") }
    }

    func take(_ secret: [UInt8], for application: String = "org.example.App") async throws(BusError) -> Bool {
        try await take(WireSecret(session: session, value: secret), for: application)
    }

    func take(_ secret: WireSecret, for application: String) async throws(BusError) -> Bool {
        let path = ObjectPath(unchecked: "/org/keychaind/Portal")
        return try await client.call(path, "org.keychaind.Portal1", "Import", application, secret).read(Bool.self)
    }

    /// Replaces a secret by the prompt; false if the application has it already, nil if the prompt was dismissed.
    func replace(with secret: [UInt8], for application: String = "org.example.App") async throws -> Bool? {
        try await changes("Replace", application, WireSecret(session: session, value: secret))
    }

    func undo(for application: String = "org.example.App") async throws -> Bool? {
        try await changes("Undo", application)
    }

    private func changes<each Value: BusValue>(_ member: String, _ arguments: repeat each Value) async throws -> Bool? {
        let path = ObjectPath(unchecked: "/org/keychaind/Portal")
        let prompt = try await client.call(path, "org.keychaind.Portal1", member, repeat each arguments)
            .read(ObjectPath.self)
        guard prompt != .root else { return false }
        let outcome = try await client.complete(prompt)
        return outcome.isDismissed ? nil : outcome.result == .boolean(true)
    }

    /// The secret that the portal's backend writes for an application.
    func retrieve(_ application: String = "org.example.App") async throws -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BusError(.failed, "there is no pipe") }
        let output = FileDescriptor(owning: ends[0])
        let message = Message.call(
            to: SecretPortal.busName,
            ObjectPath(unchecked: "/org/freedesktop/portal/desktop"),
            "org.freedesktop.impl.portal.Secret",
            "RetrieveSecret"
        )
        let request = ObjectPath(unchecked: "/org/freedesktop/portal/desktop/request/1")
        message.append(request, application, FileDescriptor(owning: ends[1]), [String: Variant]())
        let reply = try await desktop.call(message, timeout: Patience.limit)
        let response = try reply.read(UInt32.self, [String: Variant].self).0
        guard response == 0 else { throw PortalRefusal(response: response) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(output.rawValue, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}
