import DBus
import TestSupport
import Testing

/// `CreateItem` of `org.keychaind.Collection1`.
struct UniqueItemTests {
    @Test
    func createItem_sameKey_alreadyExists() async throws {
        let (client, session) = try await SharedService.client()
        let key = ["service": "unique-1", "account": "a"]
        let item = try await client.createUnique(key.merging(["other": "1"]) { $1 }, ["service", "account"], session)
        #expect(try await client.secretText(of: item, session: session) == "secret")
        await #expect(throws: BusError.alreadyExists) {
            try await client.createUnique(key.merging(["other": "2"]) { $1 }, ["service", "account"], session)
        }
        #expect(try await client.searchItems(key).unlocked == [item])
    }

    @Test("An attribute that an item lacks is the same as one that another lacks, and as no value")
    func createItem_missingAttribute_counts() async throws {
        let (client, session) = try await SharedService.client()
        let names = ["service", "port"]
        _ = try await client.createUnique(["service": "unique-2"], names, session)
        _ = try await client.createUnique(["service": "unique-2", "port": ""], names, session)
        await #expect(throws: BusError.alreadyExists) {
            try await client.createUnique(["service": "unique-2"], names, session)
        }
    }

    @Test("Of many at once one succeeds")
    func createItem_manyAtOnce_oneSucceeds() async throws {
        let clients = try await (SharedService.client(), SharedService.client())
        let made = await withTaskGroup(of: Bool.self) { group in
            for (client, session) in [clients.0, clients.1, clients.0, clients.1] {
                group.addTask {
                    (try? await client.createUnique(["service": "unique-3"], ["service"], session)) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        #expect(try await clients.0.0.searchItems(["service": "unique-3"]).unlocked.count == 1)
    }

    @Test("What is replaced is not in its own way")
    func createItem_replacing_replaces() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createUnique(["service": "unique-4"], ["service"], session)
        let again = try await client.createUnique(["service": "unique-4"], ["service"], session, replace: true)
        #expect(again == item)
    }

    @Test
    func createItem_noNames_isRefused() async throws {
        let (client, session) = try await SharedService.client()
        await #expect(throws: BusError(.invalidArguments, "")) {
            try await client.createUnique(["service": "unique-5"], [], session)
        }
    }
}

extension SecretServiceProxy {
    @discardableResult
    fileprivate func createUnique(
        _ attributes: [String: String],
        _ unique: [String],
        _ session: ObjectPath,
        replace: Bool = false
    ) async throws(BusError) -> ObjectPath {
        try await call(
            Self.defaultAlias,
            "org.keychaind.Collection1",
            "CreateItem",
            Self.itemProperties(label: "label", attributes),
            WireSecret(session: session, value: Array("secret".utf8)),
            replace,
            unique
        ).read(ObjectPath.self, ObjectPath.self).0
    }
}
