import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

struct KeyItemTests {
    @Test(arguments: TestedProvider.allCases)
    func add_reference_isFoundInEveryForm(provider: TestedProvider) async throws {
        try await Keychain.with(provider) { keychain in
            for sample in Sample.keys {
                let key = try sample.make()
                let tag = data(keychain.name + sample.description)
                let added: [CFString: Any] = [
                    kSecClass: kSecClassKey, kSecValueRef: key, kSecAttrApplicationTag: tag, kSecAttrLabel: "label",
                ]
                #expect(SecItemAdd(added as CFDictionary, nil) == errSecSuccess)
                #expect(SecItemAdd(added as CFDictionary, nil) == errSecDuplicateItem)
                let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag]
                let found = try #require(keychain.find(query, [kSecReturnRef: true], as: SecKey.self))
                #expect(found == key)
                #expect(
                    try keychain.find(query, [kSecReturnData: true], as: Data.self) == Sample.data(sample.description)
                )
                let attributes = try #require(
                    keychain.find(query, [kSecReturnAttributes: true], as: [String: Any].self)
                )
                #expect(attributes[kSecClass as String] as? String == kSecClassKey as String)
                #expect(attributes[kSecAttrKeyType as String] as? String == sample.type)
                #expect(attributes[kSecAttrKeyClass as String] as? String == sample.keyClass)
                #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == sample.bits)
                #expect(attributes[kSecAttrApplicationTag as String] as? Data == tag)
                #expect(attributes[kSecAttrLabel as String] as? String == "label")
                #expect(attributes[kSecAttrIsPermanent as String] as? Bool == true)
                let reference = try #require(keychain.find(query, [kSecReturnPersistentRef: true], as: Data.self))
                let byReference = [kSecValuePersistentRef: reference] as [CFString: Any]
                #expect(keychain.find(byReference, [kSecReturnRef: true], as: SecKey.self) == key)
                #expect(SecItemDelete([kSecValueRef: found] as [CFString: Any] as CFDictionary) == errSecSuccess)
                #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
            }
        }
    }

    @Test("A61 Class, type, size, label and tag are the primary key")
    func add_otherTagOrLabel_isAnotherItem() async throws {
        try await Keychain.withOwn { keychain in
            let key = try Sample.key("ec256-private.bin")
            for more in [
                [:], [kSecAttrApplicationTag: data("a")], [kSecAttrApplicationTag: data("b")],
                [kSecAttrApplicationLabel: "text", kSecAttrApplicationTag: "a"],
            ] as [[CFString: Any]] {
                let item = more.merging([kSecClass: kSecClassKey, kSecValueRef: key]) { $1 } as CFDictionary
                #expect(SecItemAdd(item, nil) == errSecSuccess)
                #expect(SecItemAdd(item, nil) == errSecDuplicateItem)
            }
            // A missing tag equals an empty one.
            let empty: [CFString: Any] = [kSecValueRef: key, kSecAttrApplicationTag: Data()]
            #expect(SecItemAdd(empty as CFDictionary, nil) == errSecDuplicateItem)
            let all: [CFString: Any] = [kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll]
            #expect(keychain.find(all, [kSecReturnRef: true], as: [SecKey].self) == [key, key, key, key])
            let tagged: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: "b"]
            let other = [kSecAttrApplicationTag: data("a")] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(tagged as CFDictionary, other) == errSecDuplicateItem)
            #expect(SecItemCopyMatching(tagged as CFDictionary, nil) == errSecSuccess)
            let renamed = [kSecAttrApplicationTag: data("c"), kSecAttrLabel: "new"] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(tagged as CFDictionary, renamed) == errSecSuccess)
            #expect(SecItemCopyMatching(tagged as CFDictionary, nil) == errSecItemNotFound)
            let labelled: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrLabel: "new"]
            #expect(keychain.find(labelled, [kSecReturnRef: true], as: SecKey.self) == key)
        }
    }

    @Test("Each attribute is part of the match")
    func copyMatching_otherAttribute_isNotFound() async throws {
        try await Keychain.with { keychain in
            let key = try Sample.key("ec384-private.bin")
            let item: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecValueRef: key, kSecAttrApplicationTag: keychain.name,
                kSecAttrCanSign: true, kSecAttrCreator: 7,
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let pairs: [(CFString, Any, Any)] = [
                (kSecAttrKeyClass, kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic),
                (kSecAttrKeyType, kSecAttrKeyTypeEC, kSecAttrKeyTypeRSA), (kSecAttrKeySizeInBits, 384, 256),
                (kSecAttrEffectiveKeySize, 384, 256), (kSecAttrCanSign, true, false), (kSecAttrCanWrap, false, true),
                (kSecAttrCreator, 7, 8), (kSecAttrIsPermanent, true, false), (kSecAttrKeyClass, 1, 0),
            ]
            for (attribute, right, wrong) in pairs {
                let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: keychain.name]
                #expect(SecItemCopyMatching(query.with(attribute, right), nil) == errSecSuccess, "\(attribute)")
                #expect(SecItemCopyMatching(query.with(attribute, wrong), nil) == errSecItemNotFound, "\(attribute)")
            }
        }
    }

    @Test("Data with a key type must be such a key; other data is stored unchanged")
    func add_data_isCheckedByWhatItSaysItIs() async throws {
        try await Keychain.with { keychain in
            let tag: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: keychain.name]
            let kind: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            ]
            let rsa = try Sample.data("rsa-private.der")
            let curve = try Sample.data("ec256-private.bin")
            let typed = tag.merging(kind) { $1 }
            #expect(SecItemAdd(tag as CFDictionary, nil) == errSecParam)
            #expect(SecItemAdd(typed.with(kSecValueData, data("no key")), nil) == errSecDecode)
            #expect(SecItemAdd(typed.with(kSecValueData, curve), nil) == errSecDecode)
            let wrongSize = typed.merging([kSecAttrKeySizeInBits: 1024]) { $1 }
            #expect(SecItemAdd(wrongSize.with(kSecValueData, rsa), nil) == errSecParam)
            #expect(SecItemAdd(typed.with(kSecValueData, rsa), nil) == errSecSuccess)
            let found = keychain.find(tag, [kSecReturnRef: true], as: SecKey.self)
            #expect(try found == Sample.key("rsa-private.der"))
            #expect(SecItemDelete(tag as CFDictionary) == errSecSuccess)
            #expect(SecItemAdd(tag.with(kSecValueData, data("bytes")), nil) == errSecSuccess)
            #expect(keychain.find(tag, [kSecReturnData: true], as: Data.self) == data("bytes"))
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(tag.with(kSecReturnRef, true), &result) == errSecDecode)
            #expect(result == nil)
        }
    }

    @Test
    func update_whatTheKeyIs_isRefused() async throws {
        try await Keychain.with { keychain in
            let key = try Sample.key("ec256-public.bin")
            let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: keychain.name]
            #expect(SecItemAdd(query.with(kSecValueRef, key), nil) == errSecSuccess)
            let reference = try #require(keychain.find(query, [kSecReturnPersistentRef: true], as: Data.self))
            for change in [[kSecValueData: data("1")], [kSecAttrKeySizeInBits: 1], [kSecAttrKeyType: "42"]]
                as [[CFString: Any]]
            {
                #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecParam)
            }
            let byReference = [kSecValuePersistentRef: reference] as [CFString: Any] as CFDictionary
            let change = [kSecValueData: data("1")] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(byReference, change) == errSecParam)
            #expect(keychain.find(query, [kSecReturnRef: true], as: SecKey.self) == key)
        }
    }

    @Test("The bytes of a key that is any bytes can be changed; those of another kind or size cannot")
    func update_symmetricKey_changesItsBytes() async throws {
        try await Keychain.with { keychain in
            let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: keychain.name]
            let rotated = [kSecValueData: data("fedcba9876543210")] as [CFString: Any] as CFDictionary
            #expect(SecItemAdd(query.with(kSecValueData, data("bytes")), nil) == errSecSuccess)
            #expect(SecItemUpdate(query as CFDictionary, rotated) == errSecSuccess)
            #expect(keychain.find(query, [kSecReturnData: true], as: Data.self) == data("fedcba9876543210"))
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            let kind: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeAES, kSecAttrKeyClass: kSecAttrKeyClassSymmetric,
            ]
            let typed = query.merging(kind) { $1 }
            #expect(SecItemAdd(typed.with(kSecValueData, data("0123456789abcdef")), nil) == errSecSuccess)
            #expect(SecItemUpdate(query as CFDictionary, rotated) == errSecSuccess)
            let shorter = [kSecValueData: data("1")] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(query as CFDictionary, shorter) == errSecParam)
            #expect(keychain.find(query, [kSecReturnData: true], as: Data.self) == data("fedcba9876543210"))
        }
    }

    @Test("If one of several keys cannot be replaced, the bytes of none change")
    func update_oneCannotBeReplaced_changesNone() async throws {
        try await Keychain.with { keychain in
            let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: keychain.name]
            let key = try Sample.key("ec256-private.bin")
            let first = query.merging([kSecAttrApplicationLabel: "1"]) { $1 }
            let last = query.merging([kSecAttrApplicationLabel: "2"]) { $1 }
            #expect(SecItemAdd(first.with(kSecValueData, data("bytes")), nil) == errSecSuccess)
            #expect(SecItemAdd(query.with(kSecValueRef, key), nil) == errSecSuccess)
            #expect(SecItemAdd(last.with(kSecValueData, data("bytes")), nil) == errSecSuccess)
            let change = [kSecValueData: data("other")] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(query as CFDictionary, change) == errSecParam)
            #expect(keychain.find(first, [kSecReturnData: true], as: Data.self) == data("bytes"))
            #expect(keychain.find(last, [kSecReturnData: true], as: Data.self) == data("bytes"))
        }
    }

    @Test("A60 A reference made from data finds equal items; one from the keychain finds its item only")
    func copyMatching_reference_findsTheKey() async throws {
        try await Keychain.with { keychain in
            let parameters: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let query = [kSecValueRef: key] as [CFString: Any]
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
            for tag in ["a", "b"] {
                #expect(SecItemAdd(query.with(kSecAttrApplicationTag, tag), nil) == errSecSuccess)
            }
            let first =
                [kSecClass: kSecClassKey, kSecAttrApplicationTag: "a", kSecAttrKeyType: "73"] as [CFString: Any]
            let all = query.merging([kSecMatchLimit: kSecMatchLimitAll]) { $1 }
            #expect(keychain.find(all, [kSecReturnRef: true], as: [SecKey].self)?.count == 2)
            let label = try #require(SecKeyCopyAttributes(key) as? [String: Any])[kSecAttrApplicationLabel as String]
            let labelled = first.merging([kSecAttrApplicationLabel: try #require(label)]) { $1 }
            let found = try #require(keychain.find(labelled, [kSecReturnRef: true], as: SecKey.self))
            #expect(SecItemDelete([kSecValueRef: found] as [CFString: Any] as CFDictionary) == errSecSuccess)
            #expect(keychain.find(all, [kSecReturnRef: true], as: [SecKey].self)?.count == 1)
            let wrong = query.merging([kSecClass: kSecClassCertificate]) { $1 }
            #expect(SecItemCopyMatching(wrong as CFDictionary, nil) == errSecParam)
        }
    }

    @Test
    func createRandomKey_permanent_isKept() async throws {
        try await Keychain.with { keychain in
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: data(keychain.name)]
                    as [CFString: Any],
            ]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: keychain.name]
            let all = query.merging([kSecMatchLimit: kSecMatchLimitAll]) { $1 }
            #expect(keychain.find(all, [kSecReturnRef: true], as: [SecKey].self) == [key])
            let attributes = SecKeyCopyAttributes(key) as? [String: Any]
            #expect(attributes?[kSecAttrIsPermanent as String] as? Bool == true)
        }
    }
}
