import KeychaindDBus
import KeychaindTestSupport
import Testing

struct SignalTests {
    /// Runs a body and returns the signals that it causes, in order: path, and member or changed properties.
    private func signals(
        of client: SecretServiceProxy,
        during action: () async throws -> Void
    ) async throws -> [String] {
        // Answered after the unlock at the start and its signals.
        _ = try await client.collections()
        let mark = client.signals.count
        try await action()
        try await client.roundTrip()
        return client.signals.all.dropFirst(mark).map { signal in
            let subject = signal.objectPath.map { " \($0)" } ?? ""
            if let (_, values) = signal.changedProperties {
                return "\(signal.path) [\(values.keys.sorted().joined(separator: " "))]"
            }
            return "\(signal.path) \(signal.member)\(subject)"
        }
    }

    private let service = "/org/freedesktop/secrets"
    private let login = "/org/freedesktop/secrets/collection/login"

    @Test("#83 #84 #85 #87 #90 #100 a new, renamed or deleted collection is signalled once, with the new list")
    func collection_isTold() async throws {
        try await RunningService.withService { running in
            let (client, other) = (running.client, try await running.makeClient())
            var work = ObjectPath.root
            let created = try await signals(of: other) { work = try await running.createCollection("Work") }
            #expect(created == ["\(service) CollectionCreated \(work)", "\(service) [Collections]"])
            let (_, values) = try #require(other.signals.all.last?.changedProperties)
            #expect(try await values["Collections"] == .objectPaths(other.collections()))
            let renamed = try await signals(of: other) {
                try await client.setProperty("Label", of: .defaultAlias, Interface.collection, to: .string("new"))
            }
            #expect(Set(renamed) == ["\(service) CollectionChanged \(login)", "\(login) [Label Modified]"])
            #expect(renamed.count == 2)
            // Without its items.
            _ = try await client.createItem(in: work, session: client.openPlainSession())
            let deleted = try await signals(of: other) { _ = try await client.deleteCollection(work) }
            #expect(deleted == ["\(service) CollectionDeleted \(work)", "\(service) [Collections]"])
        }
    }

    @Test("damage found in a file is signalled as the property Problem")
    func damage_foundByReading_isTold() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem(secret: String(repeating: "s", count: 10_000), session: session)
            try await running.daemon.stop()
            let file = running.daemon.dataHome + "/keychaind/login.keychain"
            try LogImage.overwrite(LogImage(at: file).last(LogImage.item, 1).secret, of: file)
            try await running.daemon.start()
            let own = try await client.openPlainSession()
            await #expect(throws: BusError.self) { try await client.secret(of: item, session: own) }
            let signal = try await client.signals.first("the problem") { signal in
                signal.changedProperties?.values["Problem"] != nil
            }
            let (interface, values) = try #require(signal.changedProperties)
            let problem: String = try await client.property("Problem", of: .login, "org.keychaind.Collection1")
            #expect(interface == "org.keychaind.Collection1" && values == ["Problem": .string(problem)])
            #expect(!problem.isEmpty)
        }
    }

    @Test("#84 #100 locking and unlocking are signalled for the collection and its items, with what was hidden before")
    func locking_isTold() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let item = try await client.createItem("label", ["a": "b"], session: client.openPlainSession())
            let created: Variant = .uint64(try await client.property("Created", of: item, Interface.item))
            for isLocking in [true, false] {
                let mark = client.signals.count
                if isLocking {
                    try await client.lock([.login])
                } else {
                    _ = try await running.unlock([.login])
                }
                try await client.roundTrip()
                let heard = client.signals.all.dropFirst(mark)
                let locked = Variant.boolean(isLocking)
                for path in [login, item.rawValue] {
                    #expect(heard.contains { $0.path == path && $0.changedProperties?.values["Locked"] == locked })
                }
                #expect(heard.filter { $0.member == "CollectionChanged" && $0.objectPath == login }.count == 1)
                #expect(heard.filter { $0.member == "ItemChanged" && $0.objectPath == item.rawValue }.count == 1)
            }
            try await running.restartLocked()
            let mark = client.signals.count
            _ = try await running.unlock([.login])
            try await client.roundTrip()
            let changed = client.signals.all.dropFirst(mark).first { $0.path == item.rawValue }?.changedProperties
            let shown: [String: Variant] = [
                "Label": .string("label"), "Attributes": .stringDictionary(["a": "b"]), "Locked": .boolean(false),
                "Created": created,
            ]
            #expect(changed?.values.filter { shown.keys.contains($0.key) } == shown)
        }
    }

    /// libsecret reads the attributes of hits from its cache when the prompt of Unlock completes.
    @Test("#100 the first unlock signals the items of the last search before the prompt completes")
    func firstUnlock_tellsFoundItemsFirst() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let session = try await client.openPlainSession()
            for _ in 0..<100 { _ = try await client.createItem("other", ["a": "c"], session: session) }
            for _ in 0..<200 { _ = try await client.createItem("found", ["a": "b"], session: session) }
            try await running.restartLocked()
            let hits = try await client.searchItems(["a": "b"]).locked
            #expect(hits.count == 200)
            let mark = client.signals.count
            _ = try await running.unlock(hits)
            let heard = client.signals.all.dropFirst(mark)
            let told = heard.prefix { $0.member != "Completed" }.filter { signal in
                signal.changedProperties?.values["Attributes"] == .stringDictionary(["a": "b"])
            }
            #expect(Set(told.map(\.path)) == Set(hits.map(\.rawValue)))
        }
    }

    @Test("#86 #99 #100 #101 a new or deleted item is signalled once, on its real path, with the list; a failure not")
    func itemCreatedAndDeleted_isTold() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let session = try await client.openPlainSession()
            var item = ObjectPath.root
            let created = try await signals(of: client) {
                item = try await client.createItem(in: .defaultAlias, session: session)
            }
            #expect(created == ["\(login) ItemCreated \(item)", "\(login) [Items Modified]"])
            let (_, values) = try #require(client.signals.all.last?.changedProperties)
            #expect(values["Items"] == .objectPaths([item]))
            // What fails or changes nothing.
            let failed = try await signals(of: client) {
                _ = try? await client.setProperty("Label", of: item, Interface.item, to: .uint32(1))
                _ = try? await client.setSecret(WireSecret(session: .root, value: [1]), of: item)
                _ = try? await client.deleteItem(.login.appending("999"))
                _ = try await client.secret(of: item, session: session)
                _ = try await client.searchItems([:])
                _ = try await client.unlock([.login])
                try await client.setAlias("none", to: .root)
            }
            #expect(failed.isEmpty)
            let deleted = try await signals(of: client) {
                _ = try await client.deleteItem(.defaultAlias.appending(item.name))
            }
            #expect(deleted == ["\(login) ItemDeleted \(item)", "\(login) [Items Modified]"])
        }
    }

    @Test("#86 a new item or collection exists when its signal arrives")
    func created_isThereWhenItIsTold() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let other = try await running.makeClient()
            try await other.roundTrip()
            let session = try await client.openPlainSession()
            for _ in 0..<10 {
                let mark = other.signals.count
                async let created = client.createItem("told", session: session)
                let signal = try await other.signals.first("ItemCreated", after: mark) { $0.member == "ItemCreated" }
                let path = try #require(signal.objectPath.flatMap { ObjectPath($0) })
                #expect(try await other.label(of: path) == "told")
                _ = try await created
            }
        }
    }

    @Test("#87 #99 #112 every change of an item sends ItemChanged and PropertiesChanged, on real paths")
    func itemChanged_isTold() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("label", ["a": "b"], session: session)
            let alias = ObjectPath.defaultAlias.appending(item.name)
            let changes: [(String, () async throws -> Void)] = [
                (
                    "Label Modified",
                    { try await client.setProperty("Label", of: alias, Interface.item, to: .string("n")) }
                ),
                (
                    "Attributes Modified Type",
                    {
                        let attributes = Variant.stringDictionary(["c": "d"])
                        try await client.setProperty("Attributes", of: alias, Interface.item, to: attributes)
                    }
                ),
                ("Modified", { try await client.setSecret(WireSecret(session: session, value: [1]), of: alias) }),
                (
                    "Attributes Label Modified Type",
                    { _ = try await client.createItem("new", ["c": "d"], session: session, replace: true) }
                ),
            ]
            for (properties, change) in changes {
                let heard = try await signals(of: client, during: change)
                #expect(
                    heard == ["\(item) [\(properties)]", "\(login) ItemChanged \(item)", "\(login) [Modified]"]
                )
            }
        }
    }

    @Test("#100 with many items, the list is sent less often than once for each")
    func itemList_ofMany_isGathered() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let session = try await client.openPlainSession()
            var items: [ObjectPath] = []
            for _ in 0..<100 {
                items.append(try await client.createItem(session: session))
            }
            let last = Variant.objectPaths(items)
            _ = try await client.signals.first("the whole list") { $0.changedProperties?.values["Items"] == last }
            let lists = client.signals.all.filter { $0.changedProperties?.values["Items"] != nil }
            // A few at once and then one a second: a generous limit.
            #expect(lists.count < 100)
            #expect(client.signals.all.filter { $0.member == "ItemCreated" }.count == 100)
        }
    }

    @Test("#85 #100 PropertiesChanged has the values that Get returns")
    func propertiesChanged_hasTheValues() async throws {
        try await RunningService.withService { running in
            let client = running.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("label", ["a": "b"], session: session)
            try await client.setProperty("Label", of: item, Interface.item, to: .string("new"))
            _ = try await running.createCollection("Work")
            try await client.roundTrip()
            var known: [String: [String: Variant]] = [:]
            for signal in client.signals.all {
                guard let (interface, values) = signal.changedProperties else { continue }
                known["\(signal.path) \(interface)", default: [:]].merge(values) { $1 }
            }
            #expect(known.count >= 3)
            for (key, values) in known {
                let words = key.split(separator: " ").map(String.init)
                let path = ObjectPath(unchecked: words[0])
                let current = try await client.properties(of: path, words[1])
                #expect(values.allSatisfy { current[$0.key] == $0.value }, "\(key)")
            }
        }
    }
}
