import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Results in the order of creation, whatever was changed since.
struct CreationOrderTests {
    @Test("A3 Results are oldest first, and a limit of one returns the oldest", arguments: TestedProvider.allCases)
    func copyMatching_changedItems_isInOrderOfCreation(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            // More than nine, as numbers in paths are not in the order of their letters.
            let names = (0..<12).map { "account \(11 - $0)" }
            for name in names {
                #expect(SecItemAdd(keychain.generic(name, [kSecValueData: data(name)]), nil) == errSecSuccess)
            }
            for name in [names[3], names[0], names[7]] {
                let changes: [CFString: Any] = [kSecValueData: data(name), kSecAttrComment: "changed"]
                #expect(SecItemUpdate(keychain.generic(name), changes as CFDictionary) == errSecSuccess)
            }
            #expect(accounts(keychain, keychain.all()) == names)
            #expect(accounts(keychain, keychain.all([kSecAttrComment: "changed"])) == [names[0], names[3], names[7]])
            #expect(accounts(keychain, keychain.all([kSecMatchLimit: 3])) == Array(names.prefix(3)))
            #expect(accounts(keychain, keychain.all([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip])) == names)
            let secrets = keychain.find(keychain.all([kSecReturnData: true]), as: [Data].self)
            #expect(secrets == names.map(data))
            let one = [kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name] as CFDictionary
            #expect(keychain.secret(one) == names[0])
            let label = keychain.all([kSecMatchLimit: kSecMatchLimitOne, kSecAttrComment: "changed"])
            #expect(keychain.secret(label) == names[0])
        }
    }

    @Test("Items of other programs come after those of Apple's API")
    func copyMatching_itemsOfOthers_comeLast() async throws {
        try await Keychain.with { keychain in
            let client = try await keychain.provider.makeOwnClient()
            let collection = try #require(try await client.defaultCollection())
            for account in ["first", "second"] {
                let attributes = ["service": keychain.name, "account": account]
                try await collection.createItem(label: "x", attributes: attributes, secret: Secret(account))
            }
            #expect(SecItemAdd(keychain.generic("third", [kSecValueData: data("third")]), nil) == errSecSuccess)
            #expect(accounts(keychain, keychain.all()) == ["third", "first", "second"])
            #expect(SecItemDelete(keychain.generic("third")) == errSecSuccess)
            let one = [kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name] as CFDictionary
            #expect(keychain.secret(one) == "first")
        }
    }

    @Test("Dates have fractions of a second, and find their item")
    func dates_areExact() async throws {
        try await Keychain.with { keychain in
            for number in 0..<3 { #expect(SecItemAdd(keychain.generic("\(number)"), nil) == errSecSuccess) }
            #expect(SecItemUpdate(keychain.generic("0"), [kSecAttrComment: "c"] as CFDictionary) == errSecSuccess)
            let found = try #require(
                keychain.find(keychain.all([kSecReturnAttributes: true]), as: [[String: Any]].self)
            )
            let created = found.compactMap { $0[kSecAttrCreationDate as String] as? Date }
            let modified = found.compactMap { $0[kSecAttrModificationDate as String] as? Date }
            #expect(created.count == 3 && created == created.sorted() && Set(created).count == 3)
            #expect(modified[0] > created[2] && modified[1] == created[1])
            #expect(created.contains { $0.timeIntervalSince1970 != $0.timeIntervalSince1970.rounded() })
            for (number, date) in created.enumerated() {
                let query = keychain.all([kSecAttrCreationDate: date])
                #expect(accounts(keychain, query) == ["\(number)"])
            }
        }
    }

    private func accounts(_ keychain: Keychain, _ query: CFDictionary) -> [String]? {
        guard let asked = query.mutableCopy() as? NSMutableDictionary else { return nil }
        asked[kSecReturnAttributes as String] = true
        return keychain.find(asked, as: [[String: Any]].self)?.compactMap { $0[kSecAttrAccount as String] as? String }
    }
}
