import KeychaindDBus
import KeychaindTestSupport
import SecretServiceClient
import Testing

struct ChangesTests {
    @Test(arguments: TestedProvider.allCases)
    func changes_ofItems_comeInOrder(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            var changes = try await client.changes().makeAsyncIterator()
            let (item, _) = try await provider.makeClient().makeItem()
            let mine = try client.item(at: item.path)
            #expect(await changes.first { $0 == .itemCreated(mine) } != nil)
            try await item.setLabel("other")
            #expect(await changes.first { $0 == .itemChanged(mine) } != nil)
            try await item.delete()
            #expect(await changes.first { $0 == .itemDeleted(mine) } != nil)
        }
    }

    @Test("Changes come while keychaind looks at other programs")
    func changes_besideNewPrograms_come() async throws {
        try await TestedProvider.keychaind.withProvider { provider, client in
            let bus = provider.bus
            let visitors = Task { @BusActor in
                while !Task.isCancelled {
                    try bus.connect().close()
                    await Task.yield()
                }
            }
            defer { visitors.cancel() }
            let watcher = try await provider.makeClient()
            var changes = try await watcher.changes().makeAsyncIterator()
            for _ in 0..<20 {
                let item = try await client.makeItem().item
                let same = try watcher.item(at: item.path)
                #expect(await changes.first { $0 == .itemCreated(same) } != nil)
                try await item.delete()
                #expect(await changes.first { $0 == .itemDeleted(same) } != nil)
            }
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func changes_ofCollections_come(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            var changes = try await client.changes().makeAsyncIterator()
            let prompter = try await provider.answerPrompts(.answer("password"))
            let collection = try await client.createCollection(label: "Work")
            #expect(await changes.first { $0 == .collectionCreated(collection) } != nil)
            try await collection.lock()
            #expect(await changes.first { $0 == .collectionChanged(collection) } != nil)
            try await collection.delete()
            #expect(await changes.first { $0 == .collectionDeleted(collection) } != nil)
            await prompter.crash()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func changes_providerRestarts_goOn(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            var changes = try await client.changes().makeAsyncIterator()
            try await provider.restart()
            #expect(await changes.first { $0 == .providerChanged } != nil)
            let item = try await client.makeItem().item
            #expect(await changes.first { $0 == .itemCreated(item) } != nil)
        }
    }

    @Test
    func changes_clientClosed_end() async throws {
        let client = try await TestedProvider.keychaind.makeClient()
        var changes = try await client.changes().makeAsyncIterator()
        client.close()
        #expect(await changes.first { _ in false } == nil)
    }

    @Test
    func changes_busGone_end() async throws {
        try await TestedProvider.keychaind.withProvider { provider, client in
            var changes = try await client.changes().makeAsyncIterator()
            try await provider.bus.kill()
            #expect(await changes.first { _ in false } == nil)
        }
    }

    @Test
    func changes_taskCancelled_end() async throws {
        let client = try await TestedProvider.keychaind.makeClient()
        let changes = try await client.changes()
        let listening = Task {
            for await _ in changes {}
            return true
        }
        listening.cancel()
        #expect(await listening.value)
    }

    @Test
    func changes_moreThanAreTaken_areMissed() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in call.reply() }
        let client = try await provider.makeClient()
        var changes = try await client.changes().makeAsyncIterator()
        let path = ObjectPath(unchecked: "/org/freedesktop/secrets")
        let count = 1500
        for number in 0..<count {
            let collection = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/c\(number)")
            await provider.emit(path, "org.freedesktop.Secret.Service", "CollectionCreated", collection)
        }
        // All of them arrive before this reply.
        try await client.setAlias("a", to: nil)
        #expect(await changes.next() == .missed)
        let last = try client.collection(at: "/org/freedesktop/secrets/collection/c\(count - 1)")
        #expect(await changes.first { $0 == .collectionCreated(last) } != nil)
    }
}

extension SecretChanges.Iterator {
    /// The next matching change; skips others.
    mutating func first(where matches: (SecretChange) -> Bool) async -> SecretChange? {
        while let change = await next() {
            if matches(change) { return change }
        }
        return nil
    }
}
