import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

struct ObjectTests {
    @Test(arguments: TestedProvider.allCases)
    func createItem_isFoundWithItsProperties(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        let before = coarseTime()
        let (item, attributes) = try await client.makeItem(label: "mail — å")
        let found = try await client.search(attributes)
        #expect(found.unlocked == [item] && found.locked.isEmpty && found.all == [item])
        #expect(try await client.login().search(attributes) == [item])
        let properties = try await item.properties()
        #expect(properties.label == "mail — å" && !properties.isLocked)
        #expect(properties.attributes["test"] == attributes["test"])
        #expect(properties.created >= before && properties.modified >= properties.created)
        #expect(try await client.login().items().contains(item))
    }

    /// The kernel's time at its last tick, as gnome-keyring gets it from time(2).
    private func coarseTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return UInt64(time.tv_sec)
    }

    @Test(arguments: TestedProvider.allCases)
    func search_nothingMatches_isEmpty(provider: TestedProvider) async throws {
        #expect(try await provider.makeClient().search(["test": UUID().uuidString]).all.isEmpty)
    }

    @Test(arguments: TestedProvider.allCases)
    func setters_changeOnlyThatProperty(provider: TestedProvider) async throws {
        let (item, attributes) = try await provider.makeClient().makeItem()
        try await item.setLabel("other")
        #expect(try await item.label() == "other")
        #expect(try await item.attributes()["test"] == attributes["test"])
        try await item.setAttributes(["colour": attributes["test", default: ""]])
        #expect(try await item.attributes()["colour"] == attributes["test"])
        #expect(try await item.attributes()["test"] == nil)
        #expect(try await item.label() == "other")
        #expect(try await item.secret().text == "secret")
    }

    @Test(arguments: TestedProvider.allCases)
    func createItem_replacing_keepsTheItem(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        let (item, attributes) = try await client.makeItem()
        let again = try await client.login().createItem(
            label: "label",
            attributes: attributes,
            secret: Secret("new"),
            replacing: true
        )
        #expect(again == item)
        #expect(try await item.secret().text == "new")
        let second = try await client.login().createItem(label: "label", attributes: attributes, secret: Secret("2"))
        #expect(second != item)
    }

    @Test(arguments: TestedProvider.allCases)
    func delete_itIsGone(provider: TestedProvider) async throws {
        let client = try await provider.makeClient()
        let (item, attributes) = try await client.makeItem()
        try await item.delete()
        #expect(try await client.search(attributes).all.isEmpty)
        #expect(try await code { try await item.label() } == .noSuchObject)
        #expect(try await code { try await item.secret() } == .noSuchObject)
        #expect(try await code { try await item.delete() } == .noSuchObject)
    }

    @Test(arguments: TestedProvider.allCases)
    func collections_aliases_andLabels(provider: TestedProvider) async throws {
        try await provider.withProvider { _, client in
            let login = try await client.login()
            #expect(try await client.collections().contains(login))
            #expect(try await client.collection(alias: "nonsense") == nil)
            try await client.setAlias("default", to: login)
            #expect(try await client.defaultCollection() == login)
            try await login.setLabel("Mine")
            let properties = try await login.properties()
            #expect(properties.label == "Mine" && !properties.isLocked)
            #expect(try await login.label() == "Mine")
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func createCollection_personAgrees_isThere(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let prompter = try await provider.answerPrompts(.answer("password"))
            let collection = try await client.createCollection(label: "Work")
            #expect(try await client.collections().contains(collection))
            try await collection.delete()
            #expect(try await !client.collections().contains(collection))
            await prompter.crash()
        }
    }

    @Test
    func createCollection_personRefuses_isDismissed() async throws {
        try await TestedProvider.keychaind.withProvider { provider, client in
            let prompter = try await provider.answerPrompts(.cancel)
            #expect(
                try await code {
                    try await client.createCollection(label: "Work")
                } == .dismissed
            )
            await prompter.crash()
        }
    }

    @Test
    func path_notOne_isRefused() async throws {
        let client = try await TestedProvider.keychaind.makeClient()
        for text in ["", "a", "//", "/å", "/a/", "/a\0"] {
            #expect(throws: SecretServiceError.self) { try client.item(at: text) }
            #expect(throws: SecretServiceError.self) { try client.collection(at: text) }
        }
    }

    @Test
    func item_keptPath_isTheSameItem() async throws {
        let client = try await TestedProvider.keychaind.makeClient()
        let (item, _) = try await client.makeItem()
        #expect(try client.item(at: item.path) == item)
        let other = try await TestedProvider.keychaind.makeClient()
        #expect(try other.item(at: item.path) != item)
        #expect(try await other.item(at: item.path).secret().text == "secret")
    }

    @Test("Arguments that D-Bus cannot carry are refused before sending")
    func arguments_notForDBus_areRefused() async throws {
        let client = try await TestedProvider.keychaind.makeClient()
        let (item, _) = try await client.makeItem()
        #expect(try await code { try await item.setLabel("a\0b") } == .invalidArguments)
        #expect(
            try await code {
                try await client.search(["a\0b": ""])
            } == .invalidArguments
        )
        #expect(
            try await code {
                try await client.search(["a": "\0"])
            } == .invalidArguments
        )
        #expect(
            try await code {
                try await client.collection(alias: "\0")
            } == .invalidArguments
        )
        #expect(
            try await code {
                try await item.setSecret(try Secret([], contentType: "\0"))
            } == .invalidArguments
        )
        let long = String(repeating: "x", count: 17 << 20)
        #expect(try await code { try await item.setLabel(long) } == .limitExceeded)
        #expect(try await item.label() == "label")
    }

    @Test
    func setSecret_moreThanTheProviderTakes_isLimitExceeded() async throws {
        let (item, _) = try await TestedProvider.keychaind.makeClient().makeItem()
        #expect(
            try await code {
                try await item.setSecret(try Secret([UInt8](repeating: 1, count: 17 << 20)))
            } == .limitExceeded
        )
        #expect(try await item.secret().text == "secret")
    }
}
