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

    @Test("#95 #108 #112 SetSecret changes only the secret, its content type and Modified")
    func setSecret_changesTheSecret() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem("label", ["set": "secret"], session: session)
        var before = try await client.properties(of: item, Interface.item)
        let secret = WireSecret(session: session, value: [9, 8], contentType: "a/b")
        try await client.setSecret(secret, of: item)
        #expect(try await client.secret(of: item, session: session) == secret)
        var after = try await client.properties(of: item, Interface.item)
        guard case .uint64(let first) = before.removeValue(forKey: "Modified"),
            case .uint64(let last) = after.removeValue(forKey: "Modified"), last >= first
        else {
            Issue.record("Modified is not the time of the last change: \(before) \(after)")
            return
        }
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

    @Test("#88 #94 #95 #113 every acknowledged change of an item and a collection survives a SIGKILL")
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
                { session in
                    let attributes = ["c": "d", "xdg:schema": "t"]
                    let replaced = try await client.createItem("newer", attributes, session: session, replace: true)
                    #expect(replaced == item)
                    try await client.setProperty("Label", of: .login, Interface.collection, to: .string("ключ 🔑\n"))
                },
            ]
            for change in changes {
                try await change(session)
                try await service.daemon.kill()
                try await service.daemon.start()
                session = try await client.openPlainSession()
            }
            #expect(try await client.property("Label", of: .login, Interface.collection) == "ключ 🔑\n")
            #expect(try await client.items(of: .login) == [item])
            #expect(try await client.label(of: item) == "newer")
            #expect(try await client.attributes(of: item) == ["c": "d", "xdg:schema": "t"])
            #expect(try await client.secretText(of: item, session: session) == "secret")
            _ = try await client.deleteItem(item)
            try await service.daemon.kill()
            try await service.daemon.start()
            #expect(try await client.items(of: .login).isEmpty)
        }
    }
}
