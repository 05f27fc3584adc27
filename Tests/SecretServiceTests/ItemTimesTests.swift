import KeychaindDBus
import KeychaindTestSupport
import Testing

/// `org.keychaind.Item1.Created` and `Modified` of a new item.
struct ItemTimesTests {
    private typealias Interface = SecretServiceProxy.Interface

    @Test("a new item takes the times of its original")
    func createItem_times_areKept() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(["times": "1"], created: 1_000_000_000, modified: 1_100_000_000, session)
        #expect(try await client.property("Created", of: item, Interface.item) == UInt64(1_000_000_000))
        #expect(try await client.property("Modified", of: item, Interface.item) == UInt64(1_100_000_000))
    }

    @Test("a time later than now counts as now", arguments: [UInt64.max, UInt64(Int64.max) / 1_000_000, 1 << 40])
    func createItem_laterThanNow_isNow(time: UInt64) async throws {
        let (client, session) = try await SharedService.client()
        let other = try await client.createItem("now", ["times": "2"], session: session)
        let item = try await client.createItem(["times": "3-\(time)"], created: time, modified: time, session)
        let after = try await client.createItem("now", ["times": "4-\(time)"], session: session)
        let now: UInt64 = try await client.property("Created", of: after, Interface.item)
        let before: UInt64 = try await client.property("Created", of: other, Interface.item)
        for name in ["Created", "Modified"] {
            let time: UInt64 = try await client.property(name, of: item, Interface.item)
            #expect((before...now).contains(time))
        }
    }

    @Test("an older item comes after newer ones in a search, whenever it was stored")
    func search_copiedItem_isOrderedByItsTime() async throws {
        let (client, session) = try await SharedService.client()
        let new = try await client.createItem("new", ["times": "5"], session: session)
        let old = try await client.createItem(["times": "5"], created: 1, modified: 2, session)
        #expect(try await client.searchItems(["times": "5"]).unlocked == [new, old])
    }

    @Test("a change of a copied item has the time of the change")
    func setLabel_copiedItem_isModifiedNow() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(["times": "6"], created: 1, modified: 2, session)
        try await client.setProperty("Label", of: item, Interface.item, to: .string("changed"))
        #expect(try await client.property("Created", of: item, Interface.item) == UInt64(1))
        let modified: UInt64 = try await client.property("Modified", of: item, Interface.item)
        #expect(modified > 1_000_000_000)
    }

    @Test("a time of another type is InvalidArgs")
    func createItem_wrongType_isRefused() async throws {
        let (client, session) = try await SharedService.client()
        var properties = SecretServiceProxy.itemProperties(label: "", ["times": "7"])
        properties["org.keychaind.Item1.Created"] = .string("yesterday")
        await #expect(throws: BusError(.invalidArguments, "")) {
            _ = try await client.createItem(properties: properties, secret: WireSecret(session: session, value: [1]))
        }
    }
}

extension SecretServiceProxy {
    fileprivate func createItem(
        _ attributes: [String: String],
        created: UInt64,
        modified: UInt64,
        _ session: ObjectPath
    ) async throws(BusError) -> ObjectPath {
        var properties = Self.itemProperties(label: "copy", attributes)
        properties["org.keychaind.Item1.Created"] = .uint64(created)
        properties["org.keychaind.Item1.Modified"] = .uint64(modified)
        return try await createItem(properties: properties, secret: WireSecret(session: session, value: [1])).item
    }
}
