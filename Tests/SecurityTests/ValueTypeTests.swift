import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Attributes in the type in which they were added.
struct ValueTypeTests {
    @Test("A5 Text comes back as text and data as data", arguments: TestedProvider.allCases)
    func attributes_keepTheirType(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            let texts: [CFString: String] = [
                kSecAttrAccount: "anna", kSecAttrService: keychain.name, kSecAttrComment: "c", kSecAttrDescription: "d",
                kSecAttrLabel: "Mail", kSecAttrGeneric: "g",
            ]
            let item = texts.merging([kSecAttrAccessGroup: "a.text"]) { $1 }
            try roundTrip(keychain, kSecClassGenericPassword, item, as: texts)
            let bytes = texts.mapValues { data($0) }
            let other = bytes.merging([kSecAttrAccessGroup: data("a.data")]) { $1 }
            try roundTrip(keychain, kSecClassGenericPassword, other, as: bytes)
        }
    }

    @Test("Servers, paths and tags of keys too")
    func attributes_otherClasses_keepTheirType() async throws {
        try await Keychain.with { keychain in
            let server: [CFString: Data] = [
                kSecAttrServer: data(keychain.name), kSecAttrPath: data("/p"), kSecAttrSecurityDomain: data("d"),
                kSecAttrAccount: data("anna"),
            ]
            try roundTrip(keychain, kSecClassInternetPassword, server, as: server)
            let key: [CFString: String] = [
                kSecAttrApplicationTag: keychain.name, kSecAttrApplicationLabel: "label",
            ]
            try roundTrip(keychain, kSecClassKey, key, as: key)
            let other = key.mapValues { data($0 + "2") }
            try roundTrip(keychain, kSecClassKey, other, as: other)
        }
    }

    @Test("A change changes the type, and another program's change keeps it")
    func update_changesTheType() async throws {
        try await Keychain.with { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecAttrComment: data("c")]), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecReturnAttributes: true])
            let change = [kSecAttrComment: "c", kSecAttrAccount: data("anna")] as [CFString: Any]
            #expect(SecItemUpdate(keychain.generic("anna"), change as CFDictionary) == errSecSuccess)
            var found = try #require(keychain.find(query, as: [String: Any].self))
            #expect(found[kSecAttrComment as String] as? String == "c")
            #expect(found[kSecAttrAccount as String] as? Data == data("anna"))

            let client = try await keychain.provider.makeOwnClient()
            let item = try #require(try await client.search(["service": keychain.name]).all.first)
            var attributes = try await item.attributes()
            #expect(attributes["account"] == "anna")
            attributes["keychain:comment"] = "new"
            try await item.setAttributes(attributes)
            found = try #require(keychain.find(query, as: [String: Any].self))
            #expect(found[kSecAttrComment as String] as? String == "new")
            #expect(found[kSecAttrAccount as String] as? Data == data("anna"))
        }
    }

    @Test(
        "An account of any bytes is stored, found and unique",
        arguments: [Data([0xff, 0xfe]), Data([0]), data("a\u{0}b"), data("a\u{0}"), Data((0...255).map { UInt8($0) })]
    )
    func account_anyBytes_isTaken(account: Data) async throws {
        try await Keychain.with { keychain in
            let item: [CFString: Any] = [kSecAttrAccount: account, kSecValueData: data("1")]
            #expect(SecItemAdd(keychain.generic("", item), nil) == errSecSuccess)
            #expect(SecItemAdd(keychain.generic("", item), nil) == errSecDuplicateItem)
            #expect(SecItemAdd(keychain.generic("a"), nil) == errSecSuccess)
            let query = keychain.generic("", [kSecAttrAccount: account, kSecReturnAttributes: true])
            let found = try #require(keychain.find(query, as: [String: Any].self))
            #expect(found[kSecAttrAccount as String] as? Data == account)
            #expect(keychain.secret(found as CFDictionary) == "1")
            guard let text = String(data: account, encoding: .utf8) else { return }
            // Text with NUL is the same account.
            #expect(keychain.secret(keychain.generic(text)) == "1")
            #expect(SecItemUpdate(query.without(kSecReturnAttributes), [kSecAttrAccount: text] as CFDictionary) == 0)
            #expect(keychain.find(query, as: [String: Any].self)?[kSecAttrAccount as String] as? String == text)
        }
    }

    @Test("All keys of a service, as SwiftKeychainWrapper, KeychainAccess and Valet list them")
    func wrappers_listTheirKeys() async throws {
        try await Keychain.with { keychain in
            // SwiftKeychainWrapper stores the key as data in account and generic attribute.
            for key in ["a", "b"] {
                let item: [CFString: Any] = [
                    kSecAttrGeneric: data(key), kSecAttrAccount: data(key), kSecValueData: data(key),
                    kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked,
                ]
                #expect(SecItemAdd(keychain.generic("", item), nil) == errSecSuccess)
            }
            let attributes = keychain.all([kSecReturnAttributes: true])
            let listed = try #require(keychain.find(attributes, as: [[AnyHashable: Any]].self))
            #expect(listed.map { $0[kSecAttrAccount] as? Data } == [data("a"), data("b")])
            // Valet's migration copies all parts, then adds them to another service.
            let everything = keychain.all([
                kSecReturnAttributes: true, kSecReturnData: true, kSecReturnPersistentRef: true,
            ])
            let copied = try #require(keychain.find(everything, as: [[String: AnyHashable]].self))
            #expect(copied.count == 2)
            for item in copied {
                let reference = try #require(item[kSecValuePersistentRef as String] as? Data)
                let key = try #require(item[kSecAttrAccount as String] as? Data)
                let secret = keychain.find(
                    [kSecValuePersistentRef: reference, kSecReturnData: true] as CFDictionary,
                    as: Data.self
                )
                #expect(secret == key && item[kSecValueData as String] as? Data == key)
                var moved = item
                moved[kSecValuePersistentRef as String] = nil
                moved[kSecAttrService as String] = keychain.name + "-moved"
                #expect(SecItemAdd(moved as CFDictionary, nil) == errSecSuccess)
            }
            let moved = keychain.all([kSecAttrService: keychain.name + "-moved", kSecReturnData: true])
            #expect(keychain.find(moved, as: [Data].self) == [data("a"), data("b")])
        }
    }

    private func roundTrip<Value: Equatable>(
        _ keychain: Keychain,
        _ itemClass: CFString,
        _ item: [CFString: Any],
        as expected: [CFString: Value]
    ) throws {
        let query = item.merging([kSecClass: itemClass]) { $1 }
        #expect(SecItemAdd(query.with(kSecValueData, data("1")), nil) == errSecSuccess)
        let found = try #require(keychain.find(query, [kSecReturnAttributes: true], as: [String: Any].self))
        for (name, value) in expected {
            #expect(found[name as String] as? Value == value, "\(name)")
        }
        // The whole result finds its item.
        #expect(SecItemDelete(found as CFDictionary) == errSecSuccess)
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
    }
}

extension CFDictionary {
    fileprivate func without(_ key: CFString) -> CFDictionary {
        let copy = mutableCopy() as! NSMutableDictionary
        copy.removeObject(forKey: key)
        return copy
    }
}
