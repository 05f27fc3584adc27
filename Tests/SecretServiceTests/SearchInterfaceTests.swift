import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import Testing

/// `Search` and `Get` of `org.keychaind.Search1`.
struct SearchInterfaceTests {
    @Test("Search returns the properties of items and the secrets of a session")
    func search_returnsPropertiesAndSecrets() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("Mail", ["find-a": "1", "x": "ü"], secret: "s", session: session)
        let found = try await client.find([["find-a": "1"]], session: session)
        let row = try #require(found.rows.first)
        #expect(found.rows.count == 1 && row.path == item && row.query == 0 && !row.isLocked)
        #expect(row.label == "Mail" && row.attributes == ["find-a": "1", "x": "ü"])
        #expect(row.created == row.modified)
        #expect(try await client.property("Created", of: item, Interface.item) == row.created / 1_000_000)
        #expect(found.texts == [item: "s"])
        #expect(try await client.find([["find-a": "1"]]).secrets.isEmpty)
        let encrypted = try await EncryptedSession(with: client)
        let secret = try #require(try await client.find([["find-a": "1"]], session: encrypted.path).secrets[item])
        #expect(try encrypted.decrypt(secret) == Array("s".utf8))
    }

    @Test("Items are in the order of the queries, then of creation, whatever was changed, also after a restart")
    func search_order_isThatOfCreation() async throws {
        try await RunningService.withService { service in
            let client = service.client
            var session = try await client.openPlainSession()
            let work = try await service.createCollection("Work")
            var items: [ObjectPath] = []
            for number in 0..<12 {
                let place = number % 2 == 0 ? work : .login
                let attributes = ["order": "x", "n": "\(number)"]
                items.append(try await client.createItem(in: place, "\(number)", attributes, session: session))
            }
            try await client.setSecret(WireSecret(session: session, value: [1]), of: items[5])
            try await client.setProperty("Label", of: items[2], Interface.item, to: .string("new"))
            #expect(try await client.find([["order": "x"]]).paths == items)
            let both = try await client.find([["n": "7"], ["order": "x"], ["n": "3"]])
            #expect(both.paths == [items[7]] + items.filter { $0 != items[7] })
            #expect(both.rows.map(\.query) == [0] + Array(repeating: 1, count: 11))
            #expect(try await client.find([["order": "x"]], session: session, limit: 3).paths == Array(items.prefix(3)))
            #expect(try await client.find([["n": "7"], ["order": "x"]], limit: 1).paths == [items[7]])
            #expect(try await client.get(items.reversed() + [items[0]]).paths == items)
            try await service.daemon.restart()
            _ = try await service.unlock([work])
            session = try await client.openPlainSession()
            #expect(try await client.find([["order": "x"]], session: session).paths == items)
        }
    }

    @Test("Locked and protected items are found without their secrets, as by GetSecrets")
    func search_lockedItems_haveNoSecret() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let other = try await service.makeClient()
            let otherSession = try await other.openPlainSession()
            let open = try await client.createItem("Open", ["service": "bank"], secret: "1", session: session)
            let item = try await client.createProtectedItem(secret: "2", session: session)
            let query = [["service": "bank"]]
            var found = try await client.find(query, session: session)
            #expect(found.rows.map(\.isLocked) == [false, true] && found.texts == [open: "1"])
            _ = try await service.unlock([item], as: client)
            found = try await client.find(query, session: session)
            #expect(found.rows.map(\.isLocked) == [false, false] && found.texts == [open: "1", item: "2"])
            found = try await other.find(query, session: otherSession)
            #expect(found.rows.map(\.isLocked) == [false, true] && found.texts == [open: "1"])
            #expect(try await other.get([item], session: otherSession).secrets.isEmpty)
            let entries = try await service.entries()
            #expect(entries.filter { $0.kind == "release" }.map(\.item) == [item.rawValue])
            #expect(!entries.contains { $0.kind == "denial" })
            try await client.lock([.login])
            found = try await client.find(query, session: session)
            #expect(found.paths == [open, item] && found.rows.allSatisfy(\.isLocked) && found.secrets.isEmpty)
            try await service.restartLocked()
            let locked = try await client.find(query, session: try await client.openPlainSession())
            #expect(locked.paths == [open, item] && locked.secrets.isEmpty)
            #expect(locked.rows.allSatisfy { $0.isLocked && $0.attributes.isEmpty && $0.created == 0 })
        }
    }

    @Test("A grant for one use releases one secret", arguments: [10, 10_000])
    func search_grantForOneUse_isUsed(size: Int) async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let secret = String(repeating: "s", count: size)
            let item = try await client.createProtectedItem(secret: secret, session: session)
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(0))
            let prompt = try await context.unlock([item]).prompt
            #expect(try await client.complete(prompt).paths == [item.rawValue])
            // Finding it uses nothing.
            #expect(try await client.find([["service": "bank"]]).rows.map(\.isLocked) == [false])
            #expect(try await client.find([["service": "bank"]], session: session).texts == [item: secret])
            #expect(try await client.find([["service": "bank"]], session: session).secrets.isEmpty)
        }
    }

    @Test("A session of another client, none or a closed one is NoSession")
    func session_ofAnother_isRefused() async throws {
        let (client, session) = try await SharedService.client()
        let (_, stranger) = try await SharedService.client()
        let item = try await client.createItem("x", ["find-b": "1"], session: session)
        try await client.closeSession(session)
        for path in [stranger, session, .service, .login] {
            await #expect(throws: BusError(.noSession, "")) { try await client.find([["find-b": "1"]], session: path) }
            await #expect(throws: BusError(.noSession, "")) { try await client.get([item], session: path) }
        }
    }

    @Test("No query finds nothing, an empty query everything; unknown paths are left out")
    func search_empty_andUnknown() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("x", ["a": "1"], secret: "s", session: session)
            #expect(try await client.find([], session: session).rows.isEmpty)
            #expect(try await client.find([[:]], session: session).texts == [item: "s"])
            #expect(try await client.find([["a": "2"]], session: session).rows.isEmpty)
            let unknown = [.root, .login, .login.appending("99"), session] as [ObjectPath]
            let alias = SecretServiceProxy.defaultAlias.appending(
                String(item.rawValue.split(separator: "/").last ?? "")
            )
            #expect(try await client.get(unknown + [item, alias], session: session).texts == [item: "s"])
        }
    }

    @Test("Too many queries, attributes and items are LimitsExceeded, and use no grant", .onLoop)
    @BusActor
    func search_tooMuch_isRefused() async throws {
        var limits = ServiceLimits.patient
        limits.itemBytesPerReply = 4000
        limits.secretBytesPerReply = 2000
        limits.objectsPerCall = 10
        let service = try await ProviderInProcess(limits: limits)
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let client = service.client
        _ = try await client.complete(client.unlock([.login]).prompt)
        let session = try await client.openPlainSession()
        let item = try await client.createProtectedItem(session: session)
        _ = try await client.createItem(
            "large",
            ["service": "bank"],
            secret: String(repeating: "l", count: 2000),
            session: session
        )
        _ = try await client.createItem("long", ["n": String(repeating: "a", count: 4000)], session: session)
        let context = try await ContextClient(client)
        try await context.set("ReuseDuration", to: .uint32(0))
        _ = try await client.complete(try await context.unlock([item]).prompt)

        await #expect(throws: BusError.limitsExceeded) { try await client.find([[:]]) }
        await #expect(throws: BusError.limitsExceeded) {
            try await client.find([["service": "bank"]], session: session)
        }
        let nine = [[String: String]](repeating: ["service": "bank"], count: 9)
        await #expect(throws: BusError.limitsExceeded) { try await client.find(nine) }
        let many = Dictionary(uniqueKeysWithValues: (0..<5000).map { ("\($0)", "") })
        await #expect(throws: BusError.limitsExceeded) { try await client.find([many]) }
        let paths = [ObjectPath](repeating: item, count: 11)
        await #expect(throws: BusError.limitsExceeded) { try await client.get(paths, session: session) }
        #expect(try await client.find([["service": "bank"]], session: session, limit: 1).secrets.count == 1)
        #expect(try await client.get([item], session: session).secrets.isEmpty)
    }

    @Test("Many large searches of one client do not delay another")
    func search_flood_letsOthersHaveTheirTurn() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let attributes = ["flood": "1", "text": String(repeating: "a", count: 200_000)]
            // More than keeps a large answer waiting, and no more than the tests beside this one have time for.
            for number in 0..<8 {
                let more = attributes.merging(["n": "\(number)"]) { $1 }
                _ = try await client.createItem("flood", more, session: session)
            }
            let small = try await client.createItem("small", ["small": "1"], session: session)
            let greedy = try await service.makeClient()
            let monitor = try RawClient(service.bus.address)
            try await monitor.monitor()
            let (name, greedyName) = await (client.connection.uniqueName, greedy.connection.uniqueName)
            let messages = Task { await monitor.messages { $0.member == nil && $0.receiver == name } }
            let searches = (0..<20).map { _ in
                Task { @BusActor in try await greedy.find([["flood": "1"]]).rows.count }
            }
            // The bus answers this after it has passed the calls on.
            _ = try await greedy.connection.owner(of: KeychainDaemon.busName, timeout: nil)
            #expect(try await client.find([["small": "1"]], session: session).paths == [small])
            for search in searches { #expect(try await search.value == 8) }
            let passed = await messages.value
            let question = try #require(passed.firstIndex { $0.sender == name && $0.member == "Search" })
            let earlier = passed[question...].count { $0.member == nil && $0.receiver == greedyName }
            #expect(earlier <= 10)
        }
    }

    @Test("A query after enough items were found is not read, but counts")
    func search_enoughFound_skipsQueries() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("x", ["find-d": "1"], secret: "s", session: session)
        let many = Dictionary(uniqueKeysWithValues: (0..<5000).map { ("\($0)", "") })
        let found = try await client.find([["find-d": "1"], many], session: session, limit: 1)
        #expect(found.texts == [item: "s"])
        await #expect(throws: BusError.limitsExceeded) { try await client.find([["find-d": "1"], many]) }
        let nine = [["find-d": "1"]] + [[String: String]](repeating: [:], count: 8)
        await #expect(throws: BusError.limitsExceeded) { try await client.find(nine, limit: 1) }
    }
}
