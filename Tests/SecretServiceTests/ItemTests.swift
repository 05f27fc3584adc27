import KeychaindDBus
import KeychaindTestSupport
import Testing

struct ItemTests {
    @Test("#103 #104 an item has Locked, Attributes, Label, Created, Modified and Type")
    func properties_areThoseOfTheText() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["item": "properties"], session: session)
        let properties = try await client.properties(of: item, Interface.item)
        #expect(Set(properties.keys) == ["Locked", "Attributes", "Label", "Created", "Modified", "Type"])
        #expect(properties["Attributes"] == .stringDictionary(["item": "properties"]))
        guard case .uint64(let created) = properties["Created"], case .uint64(let modified) = properties["Modified"]
        else {
            Issue.record("the types are wrong: \(properties)")
            return
        }
        #expect((1_577_836_800...4_102_444_800).contains(created) && modified >= created)
        for (name, value) in properties {
            #expect(
                try await client.call(item, StandardInterface.properties, "Get", Interface.item, name)
                    .read(Variant.self) == value
            )
        }
    }

    @Test("#104 Type is the attribute xdg:schema")
    func type_isTheSchema() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["type": "test"], session: session)
        #expect(
            try await client.property("Type", of: item, Interface.item, as: String.self)
                == "org.freedesktop.Secret.Generic"
        )
        try await client.setProperty("Type", of: item, Interface.item, to: .string("org.example.New"))
        #expect(try await client.attributes(of: item) == ["type": "test", "xdg:schema": "org.example.New"])
        #expect(try await client.property("Type", of: item, Interface.item, as: String.self) == "org.example.New")
        let attributes = Variant.stringDictionary(["type": "changed"])
        try await client.setProperty("Attributes", of: item, Interface.item, to: attributes)
        #expect(try await client.attributes(of: item) == ["type": "changed", "xdg:schema": "org.example.New"])
        let other = try await client.createItem(
            properties: ["\(Interface.item).Type": .string("org.example.Other")],
            secret: WireSecret(session: session, value: [])
        ).item
        #expect(try await client.attributes(of: other) == ["xdg:schema": "org.example.Other"])
    }

    @Test("#107 GetSecret returns the secret")
    func getSecret_givesTheSecret() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(secret: "mine", session: session)
        #expect(try await client.secretText(of: item, session: session) == "mine")
    }

    @Test("#108 SetSecret changes only the secret, its content type and Modified")
    func setSecret_changesTheSecret() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["set": "secret"], session: session)
        var before = try await client.properties(of: item, Interface.item)
        let secret = WireSecret(session: session, value: [9, 8], contentType: "a/b")
        try await client.setSecret(secret, of: item)
        #expect(try await client.secret(of: item, session: session) == secret)
        var after = try await client.properties(of: item, Interface.item)
        before["Modified"] = nil
        after["Modified"] = nil
        #expect(before == after)
    }

    @Test("#109 Delete deletes only this item")
    func delete_deletesOnlyThisItem() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("1", ["delete": "one"], session: session)
        let equal = try await client.createItem("2", ["delete": "one"], session: session)
        let superset = try await client.createItem("3", ["delete": "one", "more": "m"], session: session)
        #expect(try await client.deleteItem(item) == .root)
        await #expect(throws: BusError.noSuchObject) { try await client.label(of: item) }
        await #expect(throws: BusError.noSuchObject) { try await client.deleteItem(item) }
        #expect(try await client.searchItems(["delete": "one"]).unlocked == [superset, equal])
    }

    @Test("#111 setting Attributes replaces the whole map")
    func attributes_set_replaceTheMap() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["whole": "map", "old": "x"], session: session)
        for attributes in [["whole": "new"], [:], ["": ""], ["whole": "map", "b": "c"]] {
            try await client.setProperty("Attributes", of: item, Interface.item, to: .stringDictionary(attributes))
            #expect(try await client.attributes(of: item) == attributes)
        }
        #expect(try await client.searchItems(["old": "x"]).unlocked.isEmpty)
    }

    @Test("#103 a label may be any text", arguments: ["", "label", "ключ 🔑", "two\nlines", "\u{202e}x", "%s%n"])
    func label_anyText_isKept(label: String) async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(label, session: session)
        #expect(try await client.label(of: item) == label)
        try await client.setProperty("Label", of: item, Interface.item, to: .string(label + label))
        #expect(try await client.label(of: item) == label + label)
    }

    @Test("#113 every acknowledged change survives a SIGKILL")
    func changes_killedAfterwards_areThere() async throws {
        try await RunningService.withService { service in
            let client = service.client
            var session = try await client.openPlainSession()
            let item = try await client.createItem("l", ["a": "b"], session: session)
            let changes: [@Sendable (ObjectPath) async throws -> Void] = [
                { _ in try await client.setProperty("Label", of: item, Interface.item, to: .string("new")) },
                { _ in
                    let attributes = Variant.stringDictionary(["c": "d"])
                    try await client.setProperty("Attributes", of: item, Interface.item, to: attributes)
                },
                { session in
                    let secret = WireSecret(session: session, value: Array("new".utf8), contentType: "n")
                    try await client.setSecret(secret, of: item)
                },
                { _ in try await client.setProperty("Type", of: item, Interface.item, to: .string("t")) },
            ]
            for change in changes {
                try await change(session)
                try await service.daemon.kill()
                try await service.daemon.start()
                session = try await client.openPlainSession()
            }
            #expect(try await client.label(of: item) == "new")
            #expect(try await client.attributes(of: item) == ["c": "d", "xdg:schema": "t"])
            #expect(try await client.secret(of: item, session: session).contentType == "n")
            #expect(try await client.secretText(of: item, session: session) == "new")
            _ = try await client.deleteItem(item)
            try await service.daemon.kill()
            try await service.daemon.start()
            #expect(try await client.items(of: .login).isEmpty)
        }
    }

    @Test("#95 #112 Modified is the time of the last change, Created that of the creation")
    func modified_isTheLastChange() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["modified": "test"], session: session)
        let created: UInt64 = try await client.property("Created", of: item, Interface.item)
        try await client.setSecret(WireSecret(session: session, value: [1]), of: item)
        let modified: UInt64 = try await client.property("Modified", of: item, Interface.item)
        #expect(modified >= created)
        #expect(try await client.property("Created", of: item, Interface.item) == created)
    }

    @Test("#114 64 KiB of attributes are kept")
    func attributes_large_areKept() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = ["large": String(repeating: "v", count: 64 << 10), "large-too": "x"]
        let item = try await client.createItem("label", attributes, session: session)
        #expect(try await client.attributes(of: item) == attributes)
    }
}
