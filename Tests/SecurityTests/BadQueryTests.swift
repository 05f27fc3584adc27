import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

struct BadQueryTests {
    @Test("A query without a class, or with an unknown one")
    func class_missingOrUnknown_isRefused() async throws {
        try await Keychain.with { keychain in
            for query in [[:], [kSecAttrAccount: "a"], [kSecClass: "nonsense"], [kSecClass: 7]] as [CFDictionary] {
                #expect(SecItemAdd(query, nil) == errSecParam)
                #expect(SecItemCopyMatching(query, nil) == errSecParam)
                #expect(SecItemUpdate(query, [kSecValueData: Data()] as CFDictionary) == errSecParam)
                #expect(SecItemDelete(query) == errSecParam)
            }
        }
    }

    @Test("Values of the wrong type are refused")
    func value_wrongType_isRefused() async throws {
        try await Keychain.with { keychain in
            let wrong: [[CFString: Any]] = [
                [kSecAttrService: Date()], [kSecAttrAccount: Date()], [kSecAttrGeneric: Date()],
                [kSecAttrAccessGroup: Data([0xff])], [kSecAttrPort: data("1")], [kSecAttrCreationDate: "today"],
                [kSecAttrSynchronizable: "yes"],
                [kSecAttrIsInvisible: "yes"], [kSecValueData: "text"],
                [kSecReturnData: "yes"], [kSecAttrAccessible: "soon"], [kSecAttrAccessControl: "all"],
                [kSecAttrService: NSNull()], [kSecUseAuthenticationUI: "perhaps"], [kSecAttrLabel: "a\u{0}b"],
                ["v_Nonsense" as NSString: 1], [kSecMatchLimit: kSecMatchLimitOne],
                [kSecMatchItemList: "a"], [kSecMatchItemList: [1]], [kSecMatchItemList: [data("nonsense")]],
                [kSecMatchIssuers: "a"], [kSecMatchIssuers: [data("nonsense")]], [kSecMatchSubjectContains: ""],
                [kSecMatchValidOnDate: "today"], [kSecMatchTrustedOnly: "yes"],
            ]
            for more in wrong {
                #expect(SecItemAdd(keychain.generic("anna", more), nil) == errSecParam, "\(more)")
            }
            for more in [[kSecMatchLimit: "some"], [kSecMatchLimit: 0], [kSecMatchLimit: -1]] as [[CFString: Any]] {
                #expect(SecItemCopyMatching(keychain.generic("anna", more), nil) == errSecParam, "\(more)")
            }
            for more in [[kSecAttrServer: "s"], ["nonsense" as NSString: 1]] as [[CFString: Any]] {
                #expect(SecItemAdd(keychain.generic("anna", more), nil) == errSecNoSuchAttr)
                #expect(SecItemCopyMatching(keychain.generic("anna", more), nil) == errSecNoSuchAttr)
                #expect(SecItemDelete(keychain.generic("anna", more)) == errSecNoSuchAttr)
            }
            #expect(SecItemAdd(keychain.generic("anna", [kSecMatchPolicy: 1]), nil) == errSecUnimplemented)
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecItemNotFound)
        }
    }

    @Test("Values may be Swift types, Foundation types, or an Optional in an Any")
    func value_anyForm_isTaken() async throws {
        try await Keychain.with { keychain in
            let forms: [[String: Any]] = [
                ["acct": "a", "v_Data": data("1"), "port": 1, "invi": true],
                [
                    "acct": "b" as NSString, "v_Data": data("1") as NSData, "port": NSNumber(value: 1),
                    "invi": kCFBooleanTrue!,
                ],
                ["acct": String?("c") as Any, "v_Data": Data?(data("1")) as Any, "port": Int?(1) as Any],
            ]
            for form in forms {
                let query = form.merging(["class": kSecClassInternetPassword, "srvr": keychain.name]) { $1 }
                #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
            }
            for account in ["a", "b", "c"] {
                #expect(keychain.secret(keychain.internet(account, [kSecAttrPort: 1])) == "1")
            }
        }
    }

    @Test("Texts may be empty, and data may be missing")
    func value_empty_isTaken() async throws {
        try await Keychain.withOwn { keychain in
            let empty = [kSecClass: kSecClassGenericPassword, kSecAttrService: ""] as CFDictionary
            #expect(SecItemAdd(empty, nil) == errSecSuccess)
            #expect(SecItemAdd([kSecClass: kSecClassGenericPassword] as CFDictionary, nil) == errSecDuplicateItem)
            #expect(keychain.secret(empty) == "")
        }
    }

    @Test
    func secret_16MiB_isTaken_andMoreIsTooLarge() async throws {
        try await Keychain.withOwn { keychain in
            let large = Data(repeating: 7, count: 16 << 20)
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: large]), nil) == errSecSuccess)
            #expect(keychain.find(keychain.generic("anna", [kSecReturnData: true]), as: Data.self) == large)
            let tooLarge = keychain.generic("ben", [kSecValueData: large + data("1")])
            #expect(SecItemAdd(tooLarge, nil) == errSecDataTooLarge)
        }
    }

    @Test
    func noBus_andNoProvider_areNotAvailable() async throws {
        let query = [kSecClass: kSecClassGenericPassword] as CFDictionary
        KeychainBus.$current.withValue(.address("unix:path=/nonexistent")) {
            #expect(SecItemCopyMatching(query, nil) == errSecNotAvailable)
        }
        let bus = try await PrivateBus()
        KeychainBus.$current.withValue(.address(bus.address)) {
            #expect(SecItemAdd(query, nil) == errSecNotAvailable)
        }
    }

    @Test("The provider may end and restart")
    func providerDies_isNotAvailable_untilItIsBack() async throws {
        try await Keychain.withOwn { keychain in
            #expect(SecItemAdd(keychain.generic("anna", [kSecValueData: data("1")]), nil) == errSecSuccess)
            try await keychain.provider.kill()
            #expect(SecItemCopyMatching(keychain.generic(), nil) == errSecNotAvailable)
            try await keychain.provider.restart()
            #expect(keychain.secret(keychain.generic()) == "1")
        }
    }
}
