import KeychaindDBus
import KeychaindTestSupport
import Testing

struct NamesAndPathsTests {
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

    @Test("#4 #8 #10 a collection's path is its first label, in letters and digits and _xx for other bytes, and unique")
    func collectionPath_comesFromTheFirstLabel() async throws {
        try await RunningService.withService { service in
            let base = "/org/freedesktop/secrets/collection/"
            let work = try await service.createCollection("Work")
            #expect(work.rawValue == base + "Work")
            try await service.client.setProperty("Label", of: work, Interface.collection, to: .string("Play"))
            #expect(try await service.client.property("Label", of: work, Interface.collection) == "Play")
            #expect(try await service.createCollection("Default keyring").rawValue == base + "Default_20keyring")
            #expect(try await service.createCollection("Default_keyring").rawValue == base + "Default_5fkeyring")
            let encoded = try await service.createCollection("Büro")
            #expect(encoded.rawValue == base + "B_c3_bcro")
            let again = try await service.createCollection("Büro")
            #expect(again.rawValue.hasPrefix(base) && again != encoded)
            // A label of any length gives a path of bounded length.
            let label = String(repeating: "ä", count: 1000)
            let long = try await service.createCollection(label)
            #expect(long.name.utf8.count <= 100)
            #expect(try await service.client.property("Label", of: long, Interface.collection) == label)
            let collections = try await service.client.collections()
            #expect(collections.count == 8 && collections.contains(work))
        }
    }

    @Test("#5 #6 #9 the service chooses the paths of items, sessions and prompts below their parents")
    func paths_areMadeByTheService() async throws {
        let (client, session) = try await SharedService.client()
        let items = [try await client.createItem(session: session), try await client.createItem(session: session)]
        let sessions = [session, try await client.openPlainSession()]
        let prompts = [try await client.createCollection([:]).prompt, try await client.createCollection([:]).prompt]
        for (paths, parent) in [
            (items, "collection/login"), (sessions, "session"), (prompts, "prompt"),
        ] {
            #expect(paths[0] != paths[1])
            #expect(paths.map(\.parent.rawValue) == [String](repeating: "/org/freedesktop/secrets/\(parent)", count: 2))
        }
        for prompt in prompts { try await client.dismiss(prompt) }
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

    @Test("#7 #11 #61 the default collection and its items are also at /aliases/default")
    func aliasPath_isTheCollection() async throws {
        let (client, session) = try await SharedService.client()
        let attributes = ["alias": "path"]
        let item = try await client.createItem(in: .defaultAlias, "old", attributes, secret: "s", session: session)
        #expect(item.parent == .login)
        #expect(try await client.searchItems(attributes, in: .defaultAlias) == [item])
        #expect(try await client.searchItems(attributes, in: .login) == [item])
        #expect(
            try await client.properties(of: .defaultAlias, Interface.collection)["Created"]
                == client.properties(of: .login, Interface.collection)["Created"]
        )
        let alias = ObjectPath.defaultAlias.appending(item.name)
        #expect(try await client.secretText(of: alias, session: session) == "s")
        #expect(try await client.attributes(of: alias) == attributes)
        try await client.setProperty("Label", of: alias, Interface.item, to: .string("new"))
        #expect(try await client.label(of: item) == "new")
        #expect(try await Array(client.secrets(of: [alias], session: session).keys) == [alias])
        #expect(try await client.deleteItem(alias) == .root)
        await #expect(throws: BusError.noSuchObject) { try await client.label(of: item) }
    }

    @Test("#5 #8 collections and items keep their paths after restarts, and no path of a deleted item is used again")
    func paths_afterARestart_areTheSame() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let collection = try await service.createCollection("Stays")
            var session = try await client.openPlainSession()
            var items: [ObjectPath] = []
            for number in 0..<5 {
                items.append(
                    try await client.createItem(in: collection, "\(number)", ["n": "\(number)"], session: session)
                )
            }
            let inside = items.remove(at: 2)
            _ = try await client.deleteItem(inside)
            let last = try await client.createItem(session: session)
            _ = try await client.deleteItem(last)
            #expect(try await client.createItem(session: session) != last)
            try await service.daemon.restart()
            #expect(try await client.items(of: collection) == items)
            session = try await client.openPlainSession()
            let deleted = try await client.createItem(session: session)
            _ = try await client.deleteItem(deleted)
            try await service.daemon.kill()
            try await service.daemon.start()
            #expect(try await client.items(of: collection) == items)
            #expect(try await client.searchItems(["n": "4"]).locked == [items[3]])
            #expect(try await client.createItem(session: client.openPlainSession()) != deleted)
        }
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
