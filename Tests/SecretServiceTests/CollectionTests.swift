import KeychaindDBus
import KeychaindTestSupport
import Testing

struct CollectionTests {
    @Test("#88 a collection has Items, Label, Locked, Created and Modified, times in seconds")
    func properties_areThoseOfTheText() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let properties = try await client.properties(of: .login, Interface.collection)
        #expect(Set(properties.keys) == ["Items", "Label", "Locked", "Created", "Modified"])
        guard case .objectPaths(let items) = properties["Items"], case .boolean(false) = properties["Locked"],
            case .uint64(let created) = properties["Created"], case .uint64(let modified) = properties["Modified"],
            case .string = properties["Label"]
        else {
            Issue.record("the types are wrong: \(properties)")
            return
        }
        // Between 2020 and 2100: neither microseconds nor milliseconds.
        #expect((1_577_836_800...4_102_444_800).contains(created) && modified >= created && items.contains(item))
    }

    @Test("#89 Delete of an unlocked collection completes at once and survives a restart")
    func delete_unlocked_isDoneAtOnce() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work")
            let item = try await client.createItem(in: work, "l", ["a": "b"], session: client.openPlainSession())
            #expect(try await client.deleteCollection(work) == .root)
            await #expect(throws: BusError.noSuchObject) { try await client.items(of: work) }
            await #expect(throws: BusError.noSuchObject) { try await client.label(of: item) }
            #expect(try await client.searchItems(["a": "b"]).unlocked.isEmpty)
            try await service.daemon.restart()
            #expect(try await Set(client.collections()) == [.login, .sessionCollection])
        }
    }

    @Test("#89 #123 Delete of a locked collection returns a prompt, whose result is an empty string")
    func delete_locked_givesAPrompt() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let work = try await service.createCollection("Work")
            try await client.lock([work])
            let prompter = try await FakePrompter(on: service.bus, [.cancel, .answer("wrong"), .answer("password")])
            var outcome = try await client.complete(try await client.deleteCollection(work))
            #expect(outcome == PromptOutcome(isDismissed: true, result: .string("")))
            #expect(try await client.collections().contains(work))
            outcome = try await client.complete(try await client.deleteCollection(work))
            #expect(outcome == PromptOutcome(isDismissed: false, result: .string("")))
            #expect(try await !client.collections().contains(work))
            await prompter.crash()
        }
    }

    @Test("#89 the collection session cannot be deleted")
    func delete_sessionCollection_isNotSupported() async throws {
        let (client, _) = try await SharedService.client()
        await #expect(throws: BusError.notSupported) { try await client.deleteCollection(.sessionCollection) }
        #expect(try await client.collections().contains(.sessionCollection))
    }

    @Test("#89 a deleted login is replaced by an empty one that waits for a password")
    func delete_login_leavesAnEmptyOne() async throws {
        try await RunningService.withService { service in
            let client = service.client
            _ = try await client.createItem("label", ["a": "b"], session: client.openPlainSession())
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            #expect(try await !client.complete(client.deleteCollection(.defaultAlias)).isDismissed)
            await prompter.crash()
            #expect(try await client.readAlias("default") == .login)
            #expect(try await client.isCollectionLocked(.login))
            #expect(try await client.items(of: .login).isEmpty)
            #expect(try await client.searchItems(["a": "b"]).locked.isEmpty)
            #expect(try await service.unlock([.login], password: "another").paths == [ObjectPath.login.rawValue])
        }
    }

    @Test("#92 #93 CreateItem returns the item without a prompt, with the given label and attributes")
    func createItem_hasItsProperties() async throws {
        let (client, session) = try await SharedService.client()
        let (item, prompt) = try await client.createItem(
            properties: SecretServiceProxy.itemProperties(label: "läbel", ["create": "item"]),
            secret: WireSecret(session: session, value: [1])
        )
        #expect(prompt == .root)
        #expect(try await client.label(of: item) == "läbel")
        #expect(try await client.attributes(of: item) == ["create": "item"])
        #expect(try await client.items(of: .login).contains(item))
    }

    @Test("#93 an item needs no properties, and unknown ones are ignored")
    func createItem_oddProperties_areTaken() async throws {
        let (client, session) = try await SharedService.client()
        let secret = WireSecret(session: session, value: [1])
        for properties in [[:], ["Label": .string("x"), "\(Interface.item).Locked": .boolean(true), "": .uint32(1)]]
            as [[String: Variant]]
        {
            let item = try await client.createItem(properties: properties, secret: secret).item
            #expect(try await client.label(of: item) == "")
            #expect(try await client.attributes(of: item) == [:])
            #expect(try await client.isItemLocked(item) == false)
        }
    }

    @Test("#94 #95 replace changes the item with equal attributes, but not its path and Created")
    func replace_equalAttributes_changesTheItem() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = ["replace": "equal", "user": "u"]
        let first = try await client.createItem("old", attributes, secret: "old", session: session)
        let created: UInt64 = try await client.property("Created", of: first, Interface.item)
        let secret = WireSecret(session: session, value: Array("new".utf8), contentType: "new/type")
        let second = try await client.createItem(
            properties: SecretServiceProxy.itemProperties(label: "new", attributes),
            secret: secret,
            replace: true
        ).item
        #expect(second == first)
        #expect(try await client.label(of: first) == "new")
        #expect(try await client.secret(of: first, session: session) == secret)
        #expect(try await client.property("Created", of: first, Interface.item) == created)
        #expect(try await client.searchItems(attributes).unlocked == [first])
    }

    @Test(
        "#94 replace leaves items with more, fewer or other attributes unchanged",
        arguments: [
            ["sibling": "1"], ["sibling": "1", "user": "u", "more": "m"], ["sibling": "1", "user": "U"],
            ["Sibling": "1", "user": "u"],
        ]
    )
    func replace_otherAttributes_createsAnItem(attributes: [String: String]) async throws {
        let (client, session) = try await SharedService.client()
        let test = ["test": "\(attributes)"]
        let given = ["sibling": "1", "user": "u"].merging(test) { $1 }
        let sibling = try await client.createItem(
            "old",
            attributes.merging(test) { $1 },
            secret: "old",
            session: session
        )
        let item = try await client.createItem("new", given, secret: "new", session: session, replace: true)
        #expect(item != sibling)
        #expect(try await client.secretText(of: sibling, session: session) == "old")
        #expect(try await client.label(of: sibling) == "old")
    }

    @Test(
        "#94 libsecret, Chromium and Python's keyring replace only their own items",
        arguments: [
            ["xdg:schema": "org.gnome.keyring.Note", "service": "s", "username": "u"],
            ["xdg:schema": "chrome_libsecret_os_crypt_password_v2", "application": "chrome"],
            ["application": "Python keyring library", "service": "s", "username": "u"],
            ["xdg:schema": "org.freedesktop.Secret.Generic", "service": "s", "username": "u"],
            ["service": "s", "username": "u", "docker:cli": "docker-credential-helpers"],
        ]
    )
    func replace_realPrograms_keepApart(attributes: [String: String]) async throws {
        let (client, session) = try await SharedService.client()
        let first = try await client.createItem("a", attributes, secret: "1", session: session, replace: true)
        let superset = attributes.merging(["another": "program"]) { $1 }
        let other = try await client.createItem("b", superset, secret: "other", session: session, replace: true)
        let again = try await client.createItem("c", attributes, secret: "2", session: session, replace: true)
        #expect(again == first && other != first)
        #expect(try await client.secretText(of: first, session: session) == "2")
        #expect(try await client.secretText(of: other, session: session) == "other")
    }

    @Test("#94 reserved attributes do not count for replace")
    func replace_reservedAttributes_doNotCount() async throws {
        let (client, session) = try await SharedService.client()
        let plain = ["reserved": "test"]
        let item = try await client.createItem("old", plain, session: session)
        let marked = plain.merging(["keychain:note": "x"]) { $1 }
        #expect(try await client.createItem("new", marked, session: session, replace: true) == item)
        #expect(try await client.searchItems(plain).unlocked == [item])
    }

    @Test("#94 replace without attributes changes the item that has none")
    func replace_noAttributes_changesTheItemWithNone() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let other = try await client.createItem("other", ["a": "b"], secret: "other", session: session)
            let item = try await client.createItem("old", [:], secret: "old", session: session, replace: true)
            #expect(item != other)
            #expect(try await client.createItem("new", [:], secret: "new", session: session, replace: true) == item)
            #expect(try await client.secretText(of: item, session: session) == "new")
            #expect(try await client.secretText(of: other, session: session) == "other")
        }
    }

    @Test("#96 without replace, equal attributes create a second item")
    func createItem_equalAttributes_makesASecond() async throws {
        let (client, session) = try await SharedService.client()
        let first = try await client.createItem("1", ["second": "item"], secret: "1", session: session)
        let second = try await client.createItem("2", ["second": "item"], secret: "2", session: session)
        #expect(first != second)
        #expect(try await client.searchItems(["second": "item"]).unlocked == [second, first])
        #expect(try await client.secretText(of: first, session: session) == "1")
    }

    @Test("#94 of several items with equal attributes, replace changes one, the newest")
    func replace_severalEqual_changesTheNewest() async throws {
        let (client, session) = try await SharedService.client()
        let older = try await client.createItem("1", ["several": "equal"], secret: "1", session: session)
        let newer = try await client.createItem("2", ["several": "equal"], secret: "2", session: session)
        #expect(try await client.createItem("3", ["several": "equal"], session: session, replace: true) == newer)
        #expect(try await client.secretText(of: older, session: session) == "1")
    }
}
