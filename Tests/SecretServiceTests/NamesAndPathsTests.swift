import KeychaindDBus
import KeychaindTestSupport
import Testing

struct NamesAndPathsTests {
    @Test("#1 the daemon owns org.freedesktop.secrets on the session bus")
    func busName_isTaken() async throws {
        let service = try await SharedService.get()
        let names = try await service.client.connection.call(
            Message.call(
                to: "org.freedesktop.DBus",
                ObjectPath(unchecked: "/org/freedesktop/DBus"),
                "org.freedesktop.DBus",
                "ListNames"
            )
        ).read([String].self)
        #expect(names.contains("org.freedesktop.secrets"))
    }

    @Test("#2 the interfaces begin with org.freedesktop.Secret, in the singular")
    func interfaces_haveTheirNames() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let prompt = try await client.createCollection([:]).prompt
        for (path, interface) in [
            (.service, "org.freedesktop.Secret.Service"), (.login, "org.freedesktop.Secret.Collection"),
            (item, "org.freedesktop.Secret.Item"), (session, "org.freedesktop.Secret.Session"),
            (prompt, "org.freedesktop.Secret.Prompt"),
        ] as [(ObjectPath, String)] {
            #expect(try await client.introspect(path).interfaces.contains(interface))
        }
    }

    @Test("#3 the service is at /org/freedesktop/secrets, and not at the outdated paths")
    func servicePath_isTheOneOfTheText() async throws {
        let (client, _) = try await SharedService.client()
        #expect(try await client.collections().contains(.login))
        for path in ["/org/freedesktop/Secrets", "/org/freedesktop/Secret", "/org/freedesktop/secretsx"] {
            await #expect(throws: BusError.unknownObject) {
                try await client.call(ObjectPath(unchecked: path), Interface.service, "ReadAlias", "default")
            }
        }
    }

    @Test("#4 #8 a collection's path comes from its first label and does not change with the label")
    func collectionPath_comesFromTheFirstLabel() async throws {
        try await RunningService.withService { service in
            let path = try await service.createCollection("Work")
            #expect(path.rawValue == "/org/freedesktop/secrets/collection/Work")
            try await service.client.setProperty("Label", of: path, Interface.collection, to: .string("Play"))
            #expect(try await service.client.collections().contains(path))
            #expect(
                try await service.client.property("Label", of: path, Interface.collection, as: String.self) == "Play"
            )
        }
    }

    @Test("#10 bytes of a label other than letters and digits are _xx in the path, and paths are unique")
    func collectionPath_isEncoded() async throws {
        try await RunningService.withService { service in
            let base = "/org/freedesktop/secrets/collection/"
            #expect(try await service.createCollection("Default keyring").rawValue == base + "Default_20keyring")
            #expect(try await service.createCollection("Default_keyring").rawValue == base + "Default_5fkeyring")
            #expect(try await service.createCollection("Büro").rawValue == base + "B_c3_bcro")
            let again = try await service.createCollection("Büro")
            #expect(again.rawValue.hasPrefix(base) && again.rawValue != base + "B_c3_bcro")
            #expect(try await Set(service.client.collections()).count == 6)
        }
    }

    @Test("#4 a label of any length gives a path of bounded length")
    func collectionPath_longLabel_isTruncated() async throws {
        try await RunningService.withService { service in
            let path = try await service.createCollection(String(repeating: "ä", count: 1000))
            #expect(path.name.utf8.count <= 100)
            #expect(
                try await service.client.property("Label", of: path, Interface.collection, as: String.self).count
                    == 1000
            )
        }
    }

    @Test("#5 the service chooses an item's path below its collection")
    func itemPath_isBelowItsCollection() async throws {
        let (client, session) = try await SharedService.client()
        let first = try await client.createItem(session: session)
        let second = try await client.createItem(session: session)
        #expect(first.parent == .login && second.parent == .login && first != second)
    }

    @Test("#5 #8 the path of a deleted item is not used again")
    func itemPath_isNotUsedAgain() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let deleted = try await client.createItem(session: session)
            _ = try await client.deleteItem(deleted)
            #expect(try await client.createItem(session: session) != deleted)
            try await service.daemon.restart()
            let last = try await client.createItem(session: client.openPlainSession())
            _ = try await client.deleteItem(last)
            try await service.daemon.restart()
            #expect(try await client.createItem(session: client.openPlainSession()) != last)
        }
    }

    @Test("#6 the service chooses a session's path below /org/freedesktop/secrets/session")
    func sessionPath_isMadeByTheService() async throws {
        let (client, first) = try await SharedService.client()
        let second = try await client.openPlainSession()
        #expect(first.parent.rawValue == "/org/freedesktop/secrets/session" && first != second)
    }

    @Test("#3 #6 a session has one path, which is not below another object")
    func sessionPath_isTheOnlyOne() async throws {
        let (client, session) = try await SharedService.client()
        for parent in ["sandboxes", "collection", "session"] {
            let path = "/org/freedesktop/secrets/\(parent)/session/\(session.rawValue.split(separator: "/").last ?? "")"
            await #expect(throws: BusError.self) {
                try await client.call(ObjectPath(unchecked: path), "org.freedesktop.Secret.Session", "Close")
            }
        }
        try await client.closeSession(session)
    }

    @Test("#7 #61 the default collection is also at /aliases/default")
    func aliasPath_isTheCollection() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(in: .defaultAlias, "label", ["alias": "path"], session: session)
        #expect(item.parent == .login)
        #expect(try await client.searchItems(["alias": "path"], in: .defaultAlias) == [item])
        #expect(try await client.searchItems(["alias": "path"], in: .login) == [item])
        #expect(
            try await client.properties(of: .defaultAlias, Interface.collection)["Created"]
                == client.properties(of: .login, Interface.collection)["Created"]
        )
    }

    @Test("#8 collections and items keep their paths after a restart and a crash")
    func paths_afterARestart_areTheSame() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let collection = try await service.createCollection("Stays")
            let session = try await client.openPlainSession()
            var items: [ObjectPath] = []
            for number in 0..<5 {
                items.append(
                    try await client.createItem(in: collection, "\(number)", ["n": "\(number)"], session: session)
                )
            }
            _ = try await client.deleteItem(items.remove(at: 2))
            try await service.daemon.restart()
            #expect(try await client.items(of: collection) == items)
            try await service.daemon.kill()
            try await service.daemon.start()
            #expect(try await client.items(of: collection) == items)
            #expect(try await client.searchItems(["n": "4"]).locked == [items[3]])
        }
    }

    @Test("#9 a prompt's path is below /org/freedesktop/secrets/prompt")
    func promptPath_isBelowPrompt() async throws {
        let (client, _) = try await SharedService.client()
        let prompt = try await client.createCollection([:]).prompt
        #expect(prompt.parent.rawValue == "/org/freedesktop/secrets/prompt")
        try await client.dismiss(prompt)
    }

    @Test("#11 a collection's items are also below its alias")
    func aliasPath_carriesItems() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(in: .login, "old", ["on": "alias"], secret: "s", session: session)
        let alias = ObjectPath.defaultAlias.appending(item.name)
        #expect(try await client.secretText(of: alias, session: session) == "s")
        #expect(try await client.attributes(of: alias) == ["on": "alias"])
        try await client.setProperty("Label", of: alias, Interface.item, to: .string("new"))
        #expect(try await client.label(of: item) == "new")
        #expect(
            try await client.secrets(of: [alias], session: session).keys.sorted { $0.rawValue < $1.rawValue } == [alias]
        )
        #expect(try await client.deleteItem(alias) == .root)
        await #expect(throws: BusError.noSuchObject) { try await client.label(of: item) }
    }

    @Test("#12 every object answers Introspectable, Peer and Properties")
    func everyObject_hasTheStandardInterfaces() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let prompt = try await client.createCollection([:]).prompt
        for (path, interface) in [
            (.service, Interface.service), (.login, Interface.collection), (.defaultAlias, Interface.collection),
            (item, Interface.item), (ObjectPath.defaultAlias.appending(item.name), Interface.item),
            (session, Interface.session), (prompt, Interface.prompt),
        ] as [(ObjectPath, String)] {
            let interfaces = try await client.introspect(path).interfaces
            #expect(interfaces.contains(StandardInterface.introspectable))
            #expect(interfaces.contains(StandardInterface.properties))
            #expect(interfaces.contains(StandardInterface.peer))
            try await client.call(path, StandardInterface.peer, "Ping")
            let properties = try await client.properties(of: path, interface)
            #expect(properties.isEmpty == [Interface.session, Interface.prompt].contains(interface))
        }
    }

    @Test("#12 introspection reaches every object from the root")
    func introspection_leadsToEveryObject() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem(session: session)
            let prompt = try await client.createCollection([:]).prompt
            var found: Set<ObjectPath> = []
            var rest: [ObjectPath] = [.root]
            while let path = rest.popLast() {
                found.insert(path)
                for child in try await client.introspect(path).children {
                    rest.append(path == .root ? ObjectPath(unchecked: "/\(child)") : path.appending(child))
                }
            }
            let alias = ObjectPath.defaultAlias
            for path in [.login, .sessionCollection, alias, item, alias.appending(item.name), session, prompt] {
                #expect(found.contains(path))
            }
        }
    }
}
