import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// The items that a rule hides.
@Suite(.onLoop)
struct HidingTests {
    private typealias Interface = SecretServiceProxy.Interface

    /// An unlocked `login` with items of a bank and of a mail program, stored by nobody on the bus.
    @BusActor
    private final class Scene {
        let service: ProviderInProcess
        let login: Collection
        let bank: ObjectPath
        let mail: ObjectPath
        let session: ObjectPath
        private let prompter: FakePrompter
        var client: SecretServiceProxy { service.client }

        init() async throws {
            service = try await ProviderInProcess(limits: .patient)
            login = try service.collection(.login)
            try await login.unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
            bank = try await Self.store("Bank", ["service": "bank"], in: login)
            mail = try await Self.store("Mail", ["service": "mail"], in: login)
            session = try await service.client.openPlainSession()
            prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        }

        private static func store(
            _ label: String,
            _ attributes: Attributes,
            in login: Collection
        ) async throws -> ObjectPath {
            let creation = try await login.createItem(
                label: label,
                attributes: attributes,
                secret: Secret(bytes: try ProviderInProcess.bytes("secret"), contentType: "text/plain"),
                replacing: false
            )
            return .login.appending("\(creation.id)")
        }

        /// What the client sees of all items, by each way to list or find them.
        func seen() async throws -> [[ObjectPath]] {
            let introspection = try await client.call(.login, StandardInterface.introspectable, "Introspect")
                .read(String.self)
            return [
                try await client.searchItems([:]).unlocked.sorted { $0.rawValue < $1.rawValue },
                try await client.searchItems([:], in: .login).sorted { $0.rawValue < $1.rawValue },
                try await client.items(of: .login),
                try await client.find([[:]], session: session).paths,
                try await client.secrets(of: [bank, mail], session: session).keys.sorted { $0.rawValue < $1.rawValue },
                try await client.unlock([bank, mail]).unlocked,
                [bank, mail].filter { introspection.contains("<node name=\"\($0.name)\"") },
            ]
        }
    }

    @Test("a hidden item is in no list, and what is called on its path fails as without an item")
    @BusActor
    func hide_isNotThere() async throws {
        let scene = try await Scene()
        let (client, bank, mail) = (scene.client, scene.bank, scene.mail)
        #expect(try await scene.seen() == Array(repeating: [bank, mail], count: 7))
        let ids = try await client.addRules("hide any service=bank")
        #expect(try await scene.seen() == Array(repeating: [mail], count: 7))
        let missing = ObjectPath.login.appending("999")
        for path in [bank, missing, .defaultAlias.appending(bank.name)] {
            await #expect(throws: BusError.noSuchObject) { try await client.secret(of: path, session: scene.session) }
            await #expect(throws: BusError.noSuchObject) { try await client.properties(of: path, Interface.item) }
            await #expect(throws: BusError.noSuchObject) {
                try await client.setProperty("Label", of: path, Interface.item, to: .string("mine"))
            }
            await #expect(throws: BusError.noSuchObject) { try await client.deleteItem(path) }
        }
        await #expect(throws: BusError.noSuchObject) { try await client.deleteItems([mail, bank], in: .login) }
        await #expect(throws: BusError.accessDenied) { try await client.deleteCollection(.login) }
        #expect(scene.login.itemCount == 2)
        // The person's own tools can always take the rule back.
        #expect(try await !client.removeRules(ids[0]).isDismissed)
        #expect(try await scene.seen() == Array(repeating: [bank, mail], count: 7))
    }

    @Test("a rule that is more specific about the program is an exception")
    @BusActor
    func hide_exception() async throws {
        let scene = try await Scene()
        try await scene.client.addRules("hide any service=bank", "allow \(ownIdentity) service=bank")
        #expect(try await scene.seen() == Array(repeating: [scene.bank, scene.mail], count: 7))
        #expect(try await scene.client.testRule("program:/usr/bin/git", scene.bank.rawValue).action == "hide")
    }

    @Test("a program cannot store an item that it would not see, nor change one so")
    @BusActor
    func hide_storing_isRefused() async throws {
        let scene = try await Scene()
        let client = scene.client
        try await client.addRules("hide any service=bank")
        for replace in [false, true] {
            await #expect(throws: BusError.accessDenied) {
                try await client.createItem("Mine", ["service": "bank"], session: scene.session, replace: replace)
            }
        }
        await #expect(throws: BusError.accessDenied) {
            try await client.setProperty(
                "Attributes",
                of: scene.mail,
                Interface.item,
                to: .stringDictionary(["service": "bank"])
            )
        }
        #expect(scene.login.itemCount == 2)
    }

    @Test("a new item does not replace a hidden one with equal attributes, but the next new one replaces the first")
    @BusActor
    func hide_isNotReplaced() async throws {
        let scene = try await Scene()
        let client = scene.client
        try await client.addRules("hide any item=\(scene.bank.rawValue)")
        let attributes = ["service": "bank"]
        let mine = try await client.createItem("Mine", attributes, session: scene.session, replace: true)
        let again = try await client.createItem("Again", attributes, session: scene.session, replace: true)
        #expect(mine != scene.bank && again == mine)
        #expect(scene.login.itemIDs.compactMap { scene.login.item($0)?.label } == ["Bank", "Mail", "Again"])
    }

    @Test("from outside: secret-tool finds no hidden item, and signals about it reach only programs that see it")
    func hide_fromOutside() async throws {
        try await RunningService.withPrompter([.answer("password")]) { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let bank = try await client.createItem("Bank", ["service": "bank"], secret: "iban", session: session)
            let tool = { (arguments: [String], input: String) in
                try await Command.run(
                    "secret-tool",
                    arguments,
                    environment: service.daemon.environment,
                    input: Array(input.utf8)
                )
            }
            #expect(try await tool(["lookup", "service", "bank"], "").text == "iban")
            let rules = try await client.addRules("hide any service=bank", "allow \(ownIdentity) service=bank")
            #expect(try await !tool(["lookup", "service", "bank"], "").succeeded)
            #expect(try await tool(["search", "--all", "service", "bank"], "").output.isEmpty)
            var mark = client.signals.count
            try await client.setProperty("Label", of: bank, Interface.item, to: .string("Bank of Ann"))
            #expect(client.signals.all.dropFirst(mark).contains { $0.member == "ItemChanged" })

            // The other way round: this program hears nothing of what secret-tool does.
            _ = try await client.removeRules(rules[0], rules[1])
            try await client.addRules("hide \(ownIdentity) service=bank")
            mark = client.signals.count
            #expect(try await tool(["store", "--label=New", "service", "bank", "n", "2"], "new").succeeded)
            #expect(try await tool(["store", "--label=Letter", "service", "mail"], "letter").succeeded)
            #expect(try await tool(["clear", "service", "bank", "n", "2"], "").succeeded)
            try await client.roundTrip()
            let heard = client.signals.all.dropFirst(mark)
            let mail = try #require(try await client.searchItems(["service": "mail"]).unlocked.first)
            #expect(heard.filter { $0.member == "ItemCreated" }.compactMap(\.objectPath) == [mail.rawValue])
            #expect(!heard.contains { $0.member == "ItemDeleted" })
            let lists = heard.compactMap { $0.changedProperties?.values["Items"] }
            #expect(!lists.isEmpty && lists.allSatisfy { $0 == .objectPaths([mail]) })
        }
    }
}
