import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct SearchTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func login() async throws -> (Vault, Collection) {
        let vault = try await Vault.opened(Fixture.configuration(folder, clock: clock))
        return (vault, try await vault.unlockedLogin())
    }

    @Test func search_severalHits_newestModifiedFirst() async throws {
        let (vault, login) = try await login()
        let first = try await login.add("1", ["a": "1"])
        let second = try await login.add("2", ["a": "1"])
        // Created in the same microsecond: the later change is newer.
        #expect(login.search(["a": "1"]) == [second, first])
        clock.advance(seconds: 1)
        let third = try await login.add("3", ["a": "1"])
        clock.advance(seconds: 1)
        try await login.updateItem(first, label: "changed")
        #expect(login.search(["a": "1"]) == [first, third, second])
        #expect(login.search([:]) == [first, third, second])
        await vault.close()
    }

    @Test func search_subsets_caseAndValues() async throws {
        let (vault, login) = try await login()
        let id = try await login.add("x", ["Name": "Value", "other": ""])
        for hit in [["Name": "Value"], ["other": ""], ["Name": "Value", "other": ""], [:]] as [Attributes] {
            #expect(login.search(hit) == [id])
        }
        for miss in [["name": "Value"], ["Name": "value"], ["Name": ""], ["Name": "Value", "x": "y"], ["": ""]]
            as [Attributes]
        {
            #expect(login.search(miss).isEmpty)
        }
        await vault.close()
    }

    /// python-keyring's two backends store with and without the generic schema, and read what the other has stored.
    @Test func search_genericSchema_isNone() async throws {
        let (vault, login) = try await login()
        let generic = "org.freedesktop.Secret.Generic"
        let bare = try await login.add("bare", ["a": "1", "z": "2"])
        clock.advance(seconds: 1)
        let named = try await login.add("named", ["a": "1", "xdg:schema": generic, "z": "2"])
        let other = try await login.add("other", ["a": "1", "xdg:schema": "org.example", "z": "2"])
        let changed = try await login.add("changed", ["a": "3"])
        try await login.updateItem(changed, attributes: ["a": "3", "xdg:schema": "org.other"])
        try await login.deleteItem(login.add("deleted", ["a": "1"]))
        func check(_ login: Collection, order: ([ItemID]) -> [ItemID] = { $0 }) {
            let queries: [Attributes] = [
                ["xdg:schema": generic], ["xdg:schema": generic, "z": "2"], ["a": "1", "xdg:schema": generic],
            ]
            for query in queries {
                #expect(order(login.search(query)) == order([named, bare]))
            }
            #expect(login.search(["xdg:schema": "org.example"]) == [other])
            #expect(Set(login.search(["a": "1"])) == [bare, named, other])
            #expect(login.search(["a": "2", "xdg:schema": generic]).isEmpty)
            #expect(login.search(["a": "1", "xdg:schema": generic, "z": "3"]).isEmpty)
        }
        check(login)
        await vault.close()

        let reopened = try await Vault.opened(Fixture.configuration(folder))
        let locked = try #require(reopened.collection(named: .login))
        check(locked) { $0.sorted() }
        try await locked.unlock(with: Fixture.bytes(Fixture.password))
        check(locked)
        await reopened.close()
    }

    @Test func search_matchesAModel() async throws {
        let (vault, login) = try await login()
        var generator = SeededGenerator(seed: 7)
        var model: [ItemID: [String: String]] = [:]
        for step in 0..<700 {
            let attributes = randomAttributes(&generator)
            switch UInt.random(in: 0..<10, using: &generator) {
            case 0..<5:
                model[try await login.add("x", Attributes(attributes.map { ($0, $1) }))] = attributes
            case 5..<7:
                guard let id = model.keys.sorted().randomElement(using: &generator) else { continue }
                try await login.updateItem(id, attributes: Attributes(attributes.map { ($0, $1) }))
                model[id] = attributes
            default:
                guard let id = model.keys.sorted().randomElement(using: &generator) else { continue }
                try await login.deleteItem(id)
                model[id] = nil
            }
            // Deletions make the table compact itself.
            if step == 500 {
                for id in model.keys.sorted().dropFirst(20) {
                    try await login.deleteItem(id)
                    model[id] = nil
                }
            }
            let wanted = randomAttributes(&generator).prefix(2)
            let expected = model.filter { item in wanted.allSatisfy { item.value[$0.key] == $0.value } }.map(\.key)
            #expect(Set(login.search(Attributes(wanted.map { ($0.key, $0.value) }))) == Set(expected), "step \(step)")
            #expect(login.itemIDs == model.keys.sorted(), "step \(step)")
        }
        await vault.close()

        let reopened = try await Vault.opened(Fixture.configuration(folder))
        let locked = try #require(reopened.collection(named: .login))
        for number in 0..<5 {
            let expected = model.filter { item in item.value["a"] == "\(number)" }.map(\.key)
            #expect(Set(locked.search(["a": "\(number)"])) == Set(expected))
        }
        try await locked.unlock(with: Fixture.bytes(Fixture.password))
        for (id, attributes) in model {
            #expect(locked.item(id)?.attributes == Attributes(attributes.map { ($0, $1) }))
        }
        #expect(locked.problem == nil)
        await reopened.close()
    }

    private func randomAttributes(_ generator: inout SeededGenerator) -> [String: String] {
        var attributes: [String: String] = [:]
        for name in ["a", "b", "c", "d"] where Bool.random(using: &generator) {
            attributes[name] = "\(UInt.random(in: 0..<5, using: &generator))"
        }
        return attributes
    }
}
