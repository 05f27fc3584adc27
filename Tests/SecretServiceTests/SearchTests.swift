import KeychaindDBus
import KeychaindTestSupport
import Testing

struct SearchTests {
    @Test("#62 #91 a search covers all collections, including locked ones, in two lists")
    func search_allCollections_inTwoLists() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let work = try await service.createCollection("Work")
            let inWork = try await client.createItem(in: work, "w", ["site": "a"], session: session)
            let inLogin = try await client.createItem(in: .login, "l", ["site": "a"], session: session)
            let inMemory = try await client.createItem(in: .sessionCollection, "m", ["site": "a"], session: session)
            _ = try await client.createItem(in: .login, "other", ["site": "b"], session: session)
            var (unlocked, locked) = try await client.searchItems(["site": "a"])
            #expect(Set(unlocked) == [inWork, inLogin, inMemory] && locked.isEmpty)
            try await client.lock([work])
            (unlocked, locked) = try await client.searchItems(["site": "a"])
            #expect(Set(unlocked) == [inLogin, inMemory] && locked == [inWork])
            #expect(try await client.searchItems(["site": "a"], in: work) == [inWork])
            #expect(try await client.searchItems(["site": "b"], in: work) == [])
        }
    }

    @Test("#63 #64 a matching item has all given attributes, compared byte for byte, and may have others")
    func search_isForASubset_inBytes() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = ["Sub-Case": "Value", "sub-é": "e\u{301}", "sub-c": "3"]
        let item = try await client.createItem("label", attributes, session: session)
        for found in [["Sub-Case": "Value"], ["sub-é": "e\u{301}", "sub-c": "3"], attributes] {
            #expect(try await client.searchItems(found).unlocked == [item])
        }
        for missed in [
            ["sub-case": "Value"], ["Sub-Case": "value"], ["Sub-Case": "Value "], ["Sub-Case": ""], ["Sub-Case": "Val"],
            ["Value": "Sub-Case"], ["sub-é": "\u{e9}"], ["sub-c": "3", "sub-d": "4"], ["sub-d": ""],
            ["Sub-Case": "Value", "sub-c": "2"],
        ] {
            #expect(try await client.searchItems(missed).unlocked.isEmpty, "\(missed)")
        }
    }

    @Test("#62 #65 #105 a search finds items that were never unlocked, an empty one every item")
    func search_neverUnlocked_finds() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            #expect(try await client.searchItems([:]).unlocked.isEmpty)
            let items = [
                try await client.createItem("label", ["site": "a", "user": "ü"], session: session),
                try await client.createItem("label", ["site": "a", "user": "v"], session: session),
                try await client.createItem("none", [:], session: session),
            ]
            let inMemory = try await client.createItem(in: .sessionCollection, "m", ["c": "d"], session: session)
            #expect(try await Set(client.searchItems([:]).unlocked) == Set(items + [inMemory]))
            #expect(try await Set(client.searchItems([:], in: .login)) == Set(items))
            try await service.restartLocked()
            #expect(try await client.searchItems(["site": "a", "user": "ü"]).locked == [items[0]])
            #expect(try await client.searchItems(["site": "a"], in: .defaultAlias).count == 2)
            #expect(try await client.searchItems(["site": "c"]).locked.isEmpty)
            #expect(try await Set(client.searchItems([:]).locked) == Set(items))
        }
    }

    @Test("#66 the last modified item comes first, in one and in all collections, also after a restart")
    func search_newestFirst() async throws {
        try await RunningService.withService { service in
            let client = service.client
            var session = try await client.openPlainSession()
            let work = try await service.createCollection("Work")
            var items: [ObjectPath] = []
            for number in 0..<6 {
                items.append(
                    try await client.createItem(
                        in: number % 2 == 0 ? work : .login,
                        "\(number)",
                        ["order": "x"],
                        session: session
                    )
                )
            }
            #expect(try await client.searchItems(["order": "x"]).unlocked == items.reversed())
            try await client.setSecret(WireSecret(session: session, value: [1]), of: items[0])
            try await client.setProperty("Label", of: items[3], Interface.item, to: .string("new"))
            let order = [3, 0, 5, 4, 2, 1].map { items[$0] }
            #expect(try await client.searchItems(["order": "x"]).unlocked == order)
            #expect(try await client.searchItems([:]).unlocked == order)
            #expect(try await client.searchItems(["order": "x"], in: work) == [0, 4, 2].map { items[$0] })
            try await service.daemon.restart()
            _ = try await service.unlock([work])
            session = try await client.openPlainSession()
            #expect(try await client.searchItems(["order": "x"]).unlocked == order)
        }
    }

    @Test("#67 xdg:schema is an ordinary attribute: items are found with and without it")
    func search_schema_isAnAttribute() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = ["xdg:schema": "org.example.Password", "schema-test": "1"]
        let item = try await client.createItem("label", attributes, session: session)
        for given in [attributes, ["schema-test": "1"], ["xdg:schema": "org.example.Password"]] {
            #expect(try await client.searchItems(given).unlocked == [item])
        }
        #expect(try await client.searchItems(["schema-test": "1", "xdg:schema": "org.example.Other"]).unlocked == [])
        #expect(try await client.attributes(of: item) == attributes)
    }

    @Test(
        "#114 attributes of any name and value are stored and found",
        arguments: [
            ["": "any-empty-name"], ["any-empty-value": ""], ["any:colon": "a:b"], ["any=sign": "=;&"],
            ["any ключ 🔑": "значение"], ["any\nline": "\t\u{1}"], ["any/path": "/org"], ["gkr:any": "1"],
        ]
    )
    func attributes_ofAnyKind_areKept(attributes: [String: String]) async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", attributes, session: session)
        #expect(try await client.attributes(of: item) == attributes)
        #expect(try await client.searchItems(attributes).unlocked == [item])
    }

    @Test("#114 an item may have thousands of attributes")
    func attributes_many_areKept() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = Dictionary(uniqueKeysWithValues: (0..<2000).map { ("many-\($0)", "value \($0)") })
        let item = try await client.createItem("label", attributes, session: session)
        #expect(try await client.attributes(of: item) == attributes)
        #expect(try await client.searchItems(["many-1234": "value 1234"]).unlocked == [item])
        #expect(try await client.searchItems(attributes).unlocked == [item])
    }

    @Test("#62 #66 a search follows every change")
    func search_followsChanges() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["follow": "1"], session: session)
        try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(["follow": "2"]))
        #expect(try await client.searchItems(["follow": "1"]).unlocked.isEmpty)
        #expect(try await client.searchItems(["follow": "2"]).unlocked == [item])
        _ = try await client.deleteItem(item)
        #expect(try await client.searchItems(["follow": "2"]).unlocked.isEmpty)
    }
}
