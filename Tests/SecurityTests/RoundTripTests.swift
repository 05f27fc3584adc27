import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// The number of calls to the provider.
struct RoundTripTests {
    @Test("A search for one item takes one call, a change two")
    func callsOfEachFunction() async throws {
        try await Keychain.withOwn { keychain in
            let monitor = try await CallMonitor(keychain.provider.bus)
            // Opens the connection and its session.
            #expect(SecItemAdd(keychain.generic("first", [kSecValueData: data("1")]), nil) == errSecSuccess)
            let adding = try await monitor.calls {
                #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("2")]), nil) == errSecSuccess)
            }
            #expect(adding == ["Search1.Search", "Collection1.CreateItem"])
            let results: [[CFString: Any]] = [
                [kSecReturnData: true], [kSecReturnAttributes: true], [kSecReturnPersistentRef: true],
                [kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true],
            ]
            for result in results {
                let calls = try await monitor.calls {
                    #expect(keychain.find(keychain.generic("anna", result), as: AnyObject.self) != nil)
                    #expect(keychain.find(keychain.generic("nobody", result), as: AnyObject.self) == nil)
                    #expect(keychain.find(keychain.all(result), as: [Any].self)?.count == 2)
                }
                #expect(calls == Array(repeating: "Search1.Search", count: 3), "\(result)")
            }
            let labelled = keychain.all([kSecAttrLabel: keychain.name + " – anna", kSecReturnData: true])
            let reading = try await monitor.calls {
                #expect(keychain.find(labelled, as: [Data].self) == [data("2")])
            }
            #expect(reading.first == "Search1.Search" && reading.count == 2)
            let changing = try await monitor.calls {
                let change = [kSecAttrComment: "c"] as CFDictionary
                #expect(SecItemUpdate(keychain.generic("anna"), change) == errSecSuccess)
            }
            #expect(changing == ["Search1.Search", "Item1.Change"])
            let changingAll = try await monitor.calls {
                let change: [CFString: Any] = [
                    kSecAttrComment: "d", kSecAttrLabel: "l", kSecAttrAccount: "ben", kSecValueData: data("3"),
                ]
                #expect(SecItemUpdate(keychain.generic("anna"), change as CFDictionary) == errSecSuccess)
            }
            #expect(changingAll == ["Search1.Search", "Search1.Search", "Item1.Change"])
            #expect(keychain.secret(keychain.generic("ben")) == "3")
        }
    }

    @Test("Each provider that takes the name is used with what it has")
    func providers_change() async throws {
        try await Keychain.withOwn(.gnomeKeyring) { keychain in
            let bus = keychain.provider.bus
            let monitor = try await CallMonitor(bus)
            func check(_ secret: String, searches: Bool) async throws {
                let item = keychain.generic("anna", [kSecValueData: data(secret)])
                for _ in 0..<2 {
                    SecItemDelete(keychain.generic("anna"))
                    #expect(SecItemAdd(item, nil) == errSecSuccess)
                    #expect(SecItemAdd(item, nil) == errSecDuplicateItem)
                    let calls = try await monitor.calls { #expect(keychain.secret(keychain.generic("anna")) == secret) }
                    #expect(calls.contains("Search1.Search") == searches, "\(calls)")
                }
            }
            try await check("gnome", searches: false)
            try await keychain.provider.stop()
            let daemon = try await KeychainDaemon(on: bus)
            try await check("keychaind", searches: true)
            try await daemon.restart()
            try await check("again", searches: true)
            try await daemon.stop()
            try await keychain.provider.start()
            #expect(keychain.secret(keychain.generic("anna")) == "gnome")
            try await check("back", searches: false)
        }
    }
}
