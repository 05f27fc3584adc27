import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

struct ItemBehaviourTests {
    @Test("A1 Adding stores attributes and secret in one step", arguments: TestedProvider.allCases)
    func add_storesAttributesAndSecret(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            #expect(
                SecItemAdd(keychain.generic("anna", [kSecValueData: data("1234"), kSecAttrComment: "mine"]), nil) == 0
            )
            let query = keychain.generic("anna", [kSecReturnAttributes: true, kSecReturnData: true])
            let found = keychain.find(query, as: [String: Any].self)
            #expect(found?[kSecValueData as String] as? Data == data("1234"))
            #expect(found?[kSecAttrComment as String] as? String == "mine")
            #expect(found?[kSecClass as String] as? String == kSecClassGenericPassword as String)
        }
    }

    @Test("A1 The secret is nowhere stored in the clear")
    func add_secret_isNotOnDisk() async throws {
        try await Keychain.withOwn { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("pullip-2020")]), nil) == errSecSuccess)
            for (path, contents) in try keychain.provider.storedFiles() {
                #expect(contents.range(of: data("pullip-2020")) == nil, "\(path)")
            }
        }
    }

    @Test("A2 Adding an existing item is errSecDuplicateItem and changes nothing", arguments: TestedProvider.allCases)
    func add_existing_isDuplicate(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("first")]), nil) == errSecSuccess)
            let again = keychain.generic("anna", [kSecValueData: data("second"), kSecAttrLabel: "other"])
            #expect(SecItemAdd(again, nil) == errSecDuplicateItem)
            #expect(keychain.secret(keychain.generic()) == "first")
            #expect(keychain.find(keychain.all([kSecReturnData: true]), as: [Data].self)?.count == 1)
        }
    }

    @Test("A2 Adding an existing item writes nothing")
    func add_existing_writesNothing() async throws {
        try await Keychain.withOwn { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("first")]), nil) == errSecSuccess)
            let before = try await keychain.provider.storedKeychains()
            for _ in 0..<3 {
                let again = keychain.generic("anna", [kSecValueData: data("second")])
                #expect(SecItemAdd(again, nil) == errSecDuplicateItem)
            }
            let after = try await keychain.provider.storedKeychains()
            #expect(after == before)
        }
    }

    @Test("A2 The service lets one of many concurrent additions succeed")
    func add_sameAtOnce_oneSucceeds() async throws {
        try await Keychain.with { keychain in
            let bus = KeychainBus.current
            let name = keychain.name
            let statuses = await withTaskGroup(of: OSStatus.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        KeychainBus.$current.withValue(bus) {
                            SecItemAdd(
                                [
                                    kSecClass: kSecClassGenericPassword, kSecAttrService: name,
                                    kSecValueData: data("\(number)"),
                                ] as CFDictionary,
                                nil
                            )
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == errSecSuccess }.count == 1)
            #expect(statuses.filter { $0 == errSecDuplicateItem }.count == 15)
        }
    }

    @Test(
        "A3 A search matches class and attributes; a limit of one returns one item",
        arguments: TestedProvider.allCases
    )
    func copyMatching_matchesClassAndAttributes(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            for account in ["anna", "ben"] {
                #expect(SecItemAdd(keychain.generic(account, [kSecValueData: data(account)]), nil) == errSecSuccess)
            }
            #expect(SecItemAdd(keychain.internet("anna", [kSecValueData: data("web")]), nil) == errSecSuccess)
            #expect(keychain.secret(keychain.generic("ben")) == "ben")
            #expect(keychain.secret(keychain.internet("anna")) == "web")
            let all = keychain.find(keychain.all([kSecReturnData: true]), as: [Data].self)
            #expect(all.map(Set.init) == [data("anna"), data("ben")])
            let one = keychain.all([kSecMatchLimit: kSecMatchLimitOne, kSecReturnAttributes: true])
            #expect(keychain.find(one, as: [String: Any].self) != nil)
            #expect(keychain.find(keychain.all([kSecMatchLimit: 1, kSecReturnData: true]), as: Data.self) != nil)
            #expect(
                keychain.find(keychain.all([kSecMatchLimit: 2, kSecReturnData: true]), as: [Data].self)?.count == 2
            )
        }
    }

    @Test("A3 A query can ignore case")
    func copyMatching_caseInsensitive_matches() async throws {
        try await Keychain.with { keychain in
            #expect(SecItemAdd(keychain.generic("Anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            #expect(keychain.secret(keychain.generic("anna")) == nil)
            #expect(keychain.secret(keychain.generic("anna", [kSecMatchCaseInsensitive: true])) == "1")
        }
    }

    @Test("A4 Without a match, a search is errSecItemNotFound", arguments: TestedProvider.allCases)
    func copyMatching_nothing_isNotFound(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(keychain.generic(), &result) == errSecItemNotFound)
            #expect(SecItemCopyMatching(keychain.all([kSecReturnData: true]), &result) == errSecItemNotFound)
            #expect(result == nil)
        }
    }

    @Test("A5 Attributes and data are returned in one dictionary, with Apple's types")
    func copyMatching_attributesAndData_isDictionary() async throws {
        try await Keychain.with { keychain in
            let more: [CFString: Any] = [
                kSecValueData: data("1234"), kSecAttrLabel: "Mail", kSecAttrGeneric: data("\u{0}x"),
                kSecAttrIsInvisible: true, kSecAttrCreator: 7, kSecAttrDescription: "d",
            ]
            #expect(SecItemAdd(keychain.generic("anna", more), nil) == errSecSuccess)
            let query = keychain.generic("anna", [kSecReturnAttributes: true, kSecReturnData: true])
            let found = try #require(keychain.find(query, as: [String: Any].self))
            #expect(found[kSecValueData as String] as? Data == data("1234"))
            #expect(found[kSecAttrLabel as String] as? String == "Mail")
            #expect(found[kSecAttrGeneric as String] as? Data == data("\u{0}x"))
            #expect(found[kSecAttrIsInvisible as String] as? Bool == true)
            #expect(found[kSecAttrSynchronizable as String] as? Int == 0)
            #expect(found[kSecAttrCreator as String] as? Int == 7)
            #expect(abs((found[kSecAttrCreationDate as String] as? Date)?.timeIntervalSinceNow ?? .infinity) < 3600)
            let hashable = keychain.find(query, as: [AnyHashable: Any].self)
            #expect(hashable?[kSecAttrAccount] as? String == "anna")
        }
    }

    @Test("A6 A7 Data alone is returned as data, by a search and by an addition", arguments: TestedProvider.allCases)
    func returnData_alone_isData(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            var result: CFTypeRef?
            #expect(
                SecItemAdd(keychain.generic("anna", [kSecValueData: data("1"), kSecReturnData: true]), &result) == 0
            )
            #expect(result as? Data == data("1"))
            #expect(keychain.find(keychain.generic("anna", [kSecReturnData: true]), as: Data.self) == data("1"))
        }
    }

    @Test("A8 Without a result, only the status is returned", arguments: TestedProvider.allCases)
    func copyMatching_nilResult_isExistenceTest(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == noErr)
            #expect(SecItemCopyMatching(keychain.generic("anna", [kSecReturnData: true]), nil) == noErr)
        }
    }

    @Test("A9 An update changes all matches, and only the listed attributes", arguments: TestedProvider.allCases)
    func update_changesAllMatches(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            for account in ["anna", "ben"] {
                let item = keychain.generic(account, [kSecValueData: data(account), kSecAttrComment: "c"])
                #expect(SecItemAdd(item, nil) == errSecSuccess)
            }
            let both = [kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name] as CFDictionary
            #expect(SecItemUpdate(both, [kSecValueData: data("new")] as CFDictionary) == errSecSuccess)
            #expect(keychain.secret(keychain.generic("anna")) == "new")
            #expect(keychain.secret(keychain.generic("ben")) == "new")
            let renamed = [kSecAttrAccount: "carl"] as CFDictionary
            #expect(SecItemUpdate(keychain.generic("ben"), renamed) == errSecSuccess)
            #expect(keychain.secret(keychain.generic("ben")) == nil)
            #expect(keychain.secret(keychain.generic("carl", [kSecAttrComment: "c"])) == "new")
            #expect(
                SecItemUpdate(keychain.generic("carl"), [kSecAttrAccount: "anna"] as CFDictionary)
                    == errSecDuplicateItem
            )
        }
    }

    @Test("A9 The service lets one of many concurrent updates to the same key succeed")
    func update_sameKeyAtOnce_oneSucceeds() async throws {
        try await Keychain.with { keychain in
            for number in 0..<8 {
                #expect(SecItemAdd(keychain.generic("\(number)"), nil) == errSecSuccess)
            }
            let bus = KeychainBus.current
            let name = keychain.name
            let statuses = await withTaskGroup(of: OSStatus.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        KeychainBus.$current.withValue(bus) {
                            let query: [CFString: Any] = [
                                kSecClass: kSecClassGenericPassword, kSecAttrService: name,
                                kSecAttrAccount: "\(number)",
                            ]
                            let change: [CFString: Any] = [kSecAttrAccount: "anna", kSecAttrLabel: "\(number)"]
                            return SecItemUpdate(query as CFDictionary, change as CFDictionary)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == errSecSuccess }.count == 1)
            #expect(statuses.filter { $0 == errSecDuplicateItem }.count == 7)
            #expect(keychain.find(keychain.all([kSecReturnAttributes: true]), as: [[String: Any]].self)?.count == 8)
        }
    }

    @Test("A10 An update without a match is errSecItemNotFound", arguments: TestedProvider.allCases)
    func update_nothing_isNotFound(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            let changes = [kSecValueData: data("new")] as CFDictionary
            #expect(SecItemUpdate(keychain.generic(), changes) == errSecItemNotFound)
        }
    }

    @Test("A11 An update accepts no search parameters")
    func update_searchParameters_areRefused() async throws {
        try await Keychain.with { keychain in
            let changes = [kSecValueData: data("new")] as CFDictionary
            #expect(SecItemUpdate(keychain.all(), changes) == errSecParam)
            #expect(SecItemUpdate(keychain.generic("anna", [kSecReturnData: true]), changes) == errSecParam)
            #expect(SecItemUpdate(keychain.generic(), [:] as CFDictionary) == errSecParam)
            #expect(SecItemUpdate(keychain.generic(), [kSecReturnData: true] as CFDictionary) == errSecParam)
        }
    }

    @Test("A12 A deletion removes all matches", arguments: TestedProvider.allCases)
    func delete_removesAllMatches(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            for account in ["anna", "ben"] {
                #expect(SecItemAdd(keychain.generic(account, [kSecValueData: data(account)]), nil) == errSecSuccess)
            }
            let both = [kSecClass: kSecClassGenericPassword, kSecAttrService: keychain.name] as CFDictionary
            #expect(SecItemDelete(both) == errSecSuccess)
            #expect(SecItemCopyMatching(both, nil) == errSecItemNotFound)
            #expect(SecItemDelete(both) == errSecItemNotFound)
        }
    }

    @Test("A49 A deletion takes no limit other than all")
    func delete_limit_isRefused() async throws {
        try await Keychain.with { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            for limit in [kSecMatchLimitOne, 1 as NSNumber, 2 as NSNumber] as [AnyObject] {
                #expect(SecItemDelete(keychain.generic("anna", [kSecMatchLimit: limit])) == errSecParam)
                let identity: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecMatchLimit: limit]
                #expect(SecItemDelete(identity as CFDictionary) == errSecParam)
            }
            #expect(SecItemDelete(keychain.all()) == errSecSuccess)
        }
    }

    @Test("A13 Items persist after a restart of program and provider", arguments: TestedProvider.allCases)
    func item_providerRestarts_isThere(provider: TestedProvider) async throws {
        try await Keychain.withOwn(provider) { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            try await keychain.provider.restart()
            #expect(keychain.secret(keychain.generic()) == "1")
        }
    }

    @Test("A14 Account and service identify generic passwords; account and server identify internet passwords")
    func add_otherPrimaryKey_isAnotherItem() async throws {
        try await Keychain.with { keychain in
            let other = UUID().uuidString
            for (service, account) in [(keychain.name, "a"), (keychain.name, "b"), (other, "a")] {
                let item = keychain.generic(account, [kSecAttrService: service, kSecValueData: data("1")])
                #expect(SecItemAdd(item, nil) == errSecSuccess)
            }
            let ports: [[CFString: Any]] = [[:], [kSecAttrPort: 8080], [kSecAttrProtocol: kSecAttrProtocolHTTPS]]
            for more in ports {
                #expect(SecItemAdd(keychain.internet("a", more), nil) == errSecSuccess)
                #expect(SecItemAdd(keychain.internet("a", more), nil) == errSecDuplicateItem)
            }
        }
    }

    @Test("An internet password is found by each of its attributes, and not by others")
    func internetPassword_isFoundByItsAttributes() async throws {
        try await Keychain.with { keychain in
            let attributes: [CFString: Any] = [
                kSecAttrPath: "/path", kSecAttrPort: 8443, kSecAttrProtocol: kSecAttrProtocolHTTPS,
                kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTTPBasic,
            ]
            #expect(SecItemAdd(keychain.internet("anna", attributes), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(keychain.internet("anna", attributes), nil) == errSecSuccess)
            for (key, value) in attributes {
                #expect(SecItemCopyMatching(keychain.internet("anna", [key: value]), nil) == errSecSuccess)
            }
            let others: [CFString: Any] = [
                kSecAttrPath: "/other", kSecAttrPort: 1, kSecAttrProtocol: kSecAttrProtocolFTP,
                kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTTPDigest,
            ]
            for (key, value) in others {
                #expect(SecItemCopyMatching(keychain.internet("anna", [key: value]), nil) == errSecItemNotFound)
            }
        }
    }

    @Test("A15 A16 A status has a message, an unknown one has none")
    func message_knownAndUnknown() {
        #expect(
            SecCopyErrorMessageString(errSecDuplicateItem, nil) as String?
                == "The specified item already exists in the keychain."
        )
        for status in [errSecSuccess, errSecItemNotFound, errSecInternalError, errSecTimestampMissing, errSecParam] {
            #expect((SecCopyErrorMessageString(status, nil) as String?)?.isEmpty == false)
        }
        #expect(SecCopyErrorMessageString(12345, nil) as String? ?? "Unknown error." == "Unknown error.")
    }

    @Test("A17 Items marked for synchronisation are found only on request", arguments: TestedProvider.allCases)
    func synchronizable_isPartOfTheMatch(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            let marked: [CFString: Any] = [kSecAttrSynchronizable: kCFBooleanTrue!]
            #expect(SecItemAdd(keychain.generic("anna", marked), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
            #expect(SecItemCopyMatching(keychain.generic("anna", marked), nil) == errSecSuccess)
            let any = keychain.generic("anna", [kSecAttrSynchronizable: kSecAttrSynchronizableAny])
            #expect(SecItemCopyMatching(any, nil) == errSecSuccess)
            #expect(SecItemAdd(keychain.generic(), nil) == errSecSuccess)
            #expect(SecItemAdd(any, nil) == errSecParam)
        }
    }

    @Test("A20 Items that never leave the device cannot be marked for synchronisation")
    func add_thisDeviceOnlyAndSynchronised_isRefused() async throws {
        try await Keychain.with { keychain in
            let item = keychain.generic(
                "anna",
                [kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrSynchronizable: true]
            )
            #expect(SecItemAdd(item, nil) == errSecParam)
        }
    }
}
