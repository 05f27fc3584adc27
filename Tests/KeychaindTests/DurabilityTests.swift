import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A reply means that the change is on disk (#113).
@Suite struct DurabilityTests {
    @Test("a kill at any time loses no acknowledged change")
    func kill_inAnyRound_losesNothingAcknowledged() async throws {
        let daemon = try await KeychainDaemon(on: PrivateBus())
        let rounds = await CrashRounds(on: daemon, seed: CaseSample.seed)
        let count = CaseSample.size(of: 200, oneIn: 8)
        for round in 1...count {
            let problems = try await rounds.run()
            #expect(problems == [], "SEED=\(CaseSample.seed), round \(round)")
        }
        #expect(await rounds.acknowledgements > count)
        try await daemon.stop()
        #expect(!(try await daemon.child.standardError.text()).contains("error"))
    }

    @Test("every kind of change survives a kill right after the reply")
    func kill_rightAfterTheReply_keepsEveryKindOfChange() async throws {
        let service = try await RunningService()
        let (client, session) = (service.client, try await service.client.openPlainSession())
        let login = SecretServiceProxy.defaultAlias
        let item = try await client.createItem("old", ["a": "old"], secret: "old", session: session)
        let gone = try await client.createItem("gone", ["a": "gone"], session: session)
        let (ofItem, ofCollection) = (SecretServiceProxy.Interface.item, SecretServiceProxy.Interface.collection)
        try await client.setProperty("Label", of: item, ofItem, to: .string("new"))
        try await client.setProperty("Attributes", of: item, ofItem, to: .stringDictionary(["a": "new"]))
        try await client.setSecret(WireSecret(session: session, value: [0, 10, 255]), of: item)
        _ = try await client.deleteItem(gone)
        try await client.setProperty("Label", of: login, ofCollection, to: .string("Mine"))
        try await client.setAlias("work", to: ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login"))
        try await service.daemon.kill()
        try await service.daemon.start()
        let other = try await service.makeClient()
        #expect(try await other.label(of: item) == "new")
        #expect(try await other.attributes(of: item) == ["a": "new"])
        #expect(try await other.secret(of: item, session: other.openPlainSession()).value == [0, 10, 255])
        #expect(try await other.searchItems(["a": "gone"]).unlocked == [])
        #expect(try await other.property("Label", of: login, ofCollection, as: String.self) == "Mine")
        #expect(try await other.readAlias("work").rawValue == "/org/freedesktop/secrets/collection/login")
        try await service.daemon.stop()
    }
}
