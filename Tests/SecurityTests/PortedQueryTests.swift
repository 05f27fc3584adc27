import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Queries as programs for Apple's systems write them: with superfluous keys, and with results of earlier calls.
struct PortedQueryTests {
    @Test("A2 A12 One dictionary deletes and adds, which replaces the secret")
    func deleteAndAdd_oneDictionary_overwrites() async throws {
        try await Keychain.with { keychain in
            for secret in ["first", "second"] {
                let query = keychain.generic("anna", [kSecValueData: data(secret)])
                SecItemDelete(query)
                #expect(SecItemAdd(query, nil) == errSecSuccess)
                #expect(keychain.secret(keychain.generic()) == secret)
            }
        }
    }

    @Test("A59 A secret in a query, and requested results of a deletion, are ignored")
    func query_secret_isIgnored() async throws {
        try await Keychain.with { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecValueData: data("another")])
            #expect(keychain.secret(query) == "1")
            #expect(SecItemUpdate(query, [kSecValueData: data("2")] as CFDictionary) == errSecSuccess)
            #expect(keychain.secret(query) == "2")
            #expect(SecItemDelete(keychain.generic("anna", [kSecReturnData: true])) == errSecSuccess)
            #expect(keychain.secret(query) == nil)
        }
    }

    @Test("A58 A result is a query for its item", arguments: [nil, "Mail of Anna"], ["generic", "internet"])
    func found_asQuery_findsChangesAndDeletes(label: String?, itemClass: String) async throws {
        try await Keychain.with { keychain in
            var more: [CFString: Any] = [kSecValueData: data("1"), kSecAttrComment: "c", kSecAttrIsInvisible: true]
            more[kSecAttrLabel] = label
            more[kSecAttrPort] = itemClass == "internet" ? 8080 : nil
            let item = itemClass == "generic" ? keychain.generic("anna", more) : keychain.internet("anna", more)
            let query: [CFString: Any] = [kSecReturnAttributes: true, kSecReturnData: true]
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            let asked = itemClass == "generic" ? keychain.generic("anna", query) : keychain.internet("anna", query)
            let found = try #require(keychain.find(asked, as: [String: Any].self))
            #expect(keychain.secret(found as CFDictionary) == "1")

            // As in Apple's sample: the whole result is passed back.
            var changes = found
            changes[kSecClass as String] = nil
            changes[kSecValueData as String] = data("2")
            #expect(SecItemUpdate(found as CFDictionary, changes as CFDictionary) == errSecSuccess)
            let changed = try #require(keychain.find(asked, as: [String: Any].self))
            #expect(changed[kSecValueData as String] as? Data == data("2"))
            #expect(SecItemDelete(changed as CFDictionary) == errSecSuccess)
            #expect(SecItemCopyMatching(asked, nil) == errSecItemNotFound)
            #expect(SecItemAdd(changed as CFDictionary, nil) == errSecSuccess)
            let added = keychain.find(asked, as: [String: Any].self)
            #expect(added?[kSecValueData as String] as? Data == data("2"))
        }
    }

    @Test("A result with an access control is a query for its item")
    func found_protected_asQuery() async throws {
        try await Keychain.with { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, .userPresence, nil)
            )
            #expect(SecItemAdd(keychain.generic("anna", [kSecAttrAccessControl: control]), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecReturnAttributes: true])
            let found = try #require(keychain.find(query, as: [String: Any].self))
            #expect(found[kSecAttrAccessible as String] != nil && found[kSecAttrAccessControl as String] != nil)
            #expect(SecItemCopyMatching(found as CFDictionary, nil) == errSecSuccess)
            var other = found
            other[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlocked
            #expect(SecItemCopyMatching(other as CFDictionary, nil) == errSecParam)
        }
    }

    @Test("A57 Dates can be matched, but not set")
    func dates_areMatched_andNotSet() async throws {
        try await Keychain.with { keychain in
            let past = Date(timeIntervalSince1970: 1000)
            let dates: [CFString: Any] = [kSecAttrCreationDate: past, kSecAttrModificationDate: past as NSDate]
            #expect(SecItemAdd(keychain.generic("anna", dates), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecReturnAttributes: true])
            let found = try #require(keychain.find(query, as: [String: Any].self))
            let created = try #require(found[kSecAttrCreationDate as String] as? Date)
            #expect(abs(created.timeIntervalSinceNow) < 3600)
            #expect(SecItemCopyMatching(keychain.generic("anna", [kSecAttrCreationDate: created]), nil) == 0)
            for date in [kSecAttrCreationDate, kSecAttrModificationDate] {
                #expect(SecItemCopyMatching(keychain.generic("anna", [date: past]), nil) == errSecItemNotFound)
                #expect(SecItemCopyMatching(keychain.generic("anna", [date: "today"]), nil) == errSecParam)
            }
            #expect(SecItemUpdate(keychain.generic(), [kSecAttrCreationDate: past] as CFDictionary) == errSecParam)
        }
    }

    @Test("Text, data and numbers are interchangeable in searches")
    func texts_asDataAndNumbers_areTheSame() async throws {
        try await Keychain.with { keychain in
            // As in SwiftKeychainWrapper and KeychainItemWrapper.
            let encoded: [CFString: Any] = [
                kSecAttrAccount: data("anna"), kSecAttrGeneric: data("anna"), kSecAttrLabel: data("Mail"),
                kSecValueData: data("1"),
            ]
            #expect(SecItemAdd(keychain.generic("x", encoded), nil) == errSecSuccess)
            let texts: [CFString: Any] = [kSecAttrGeneric: "anna", kSecAttrLabel: "Mail"]
            #expect(keychain.secret(keychain.generic("anna", texts)) == "1")
            #expect(SecItemAdd(keychain.generic("anna"), nil) == errSecDuplicateItem)

            #expect(SecItemAdd(keychain.generic("7", [kSecAttrGeneric: 12]), nil) == errSecSuccess)
            let number = keychain.generic("", [kSecAttrAccount: 7, kSecAttrGeneric: data("12")])
            #expect(SecItemCopyMatching(number, nil) == errSecSuccess)
            #expect(SecItemAdd(keychain.internet("anna", [kSecAttrPort: "8080"]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(keychain.internet("anna", [kSecAttrPort: 8080]), nil) == errSecSuccess)
        }
    }

    @Test("Another Unicode form is another value, in searches and in changes")
    func unicodeForms_areOthers() async throws {
        try await Keychain.with { keychain in
            let (composed, decomposed) = ("Andr\u{e9}", "Andre\u{301}")
            let item = keychain.generic(composed, [kSecAttrLabel: composed, kSecValueData: data("1")])
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            let all = keychain.all([kSecAttrLabel: decomposed])
            #expect(SecItemCopyMatching(all, nil) == errSecItemNotFound)
            let insensitive: [CFString: Any] = [kSecMatchCaseInsensitive: true]
            #expect(SecItemCopyMatching(keychain.generic("ANDR\u{c9}", insensitive), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(keychain.generic(decomposed, insensitive), nil) == errSecItemNotFound)

            let changes: [CFString: Any] = [kSecAttrAccount: decomposed, kSecAttrLabel: decomposed]
            #expect(SecItemUpdate(keychain.generic(composed), changes as CFDictionary) == errSecSuccess)
            #expect(keychain.secret(keychain.generic(composed)) == nil)
            #expect(keychain.secret(keychain.generic(decomposed, [kSecAttrLabel: decomposed])) == "1")
            #expect(SecItemAdd(keychain.generic(composed), nil) == errSecSuccess)
            let taken = [kSecAttrAccount: composed] as CFDictionary
            #expect(SecItemUpdate(keychain.generic(decomposed), taken) == errSecDuplicateItem)
        }
    }
}
