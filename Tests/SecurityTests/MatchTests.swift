import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// The keys `kSecMatch…` for lists of items and for the contents of certificates.
struct MatchTests {
    private let certificates: [CFString: Any] = [
        kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll,
    ]

    /// Texts for certificates, and the samples that they match.
    private let subjects: [(CFString, String, Set<String>)] = [
        (kSecMatchSubjectContains, "Exam", ["rsa", "ec256"]), (kSecMatchSubjectContains, "anna", ["rsa"]),
        (kSecMatchSubjectContains, "nobody", []), (kSecMatchSubjectStartsWith, "Anna", ["rsa"]),
        (kSecMatchSubjectStartsWith, "xample", []), (kSecMatchSubjectEndsWith, ".org", ["ec256"]),
        (kSecMatchSubjectEndsWith, "Anna", []), (kSecMatchSubjectWholeString, "Example", ["rsa", "ec256"]),
        (kSecMatchSubjectWholeString, "Old", ["version1"]), (kSecMatchSubjectWholeString, "Ol", []),
        (kSecMatchEmailAddressIfPresent, "anna@example.org", ["rsa", "ec256", "nameless", "version1"]),
        (kSecMatchEmailAddressIfPresent, "nobody@example.org", ["ec256", "nameless", "version1"]),
    ]

    @Test("A53 Certificates are matched by subject and address", arguments: TestedProvider.allCases)
    func certificates_subjectAndAddress(provider: TestedProvider) async throws {
        try await Keychain.withOwn(provider) { keychain in
            try addCertificates()
            for (key, text, expected) in subjects {
                #expect(try find(keychain, [key: text]) == expected, "\(key) \(text)")
            }
            let folded: [CFString: Any] = [kSecMatchSubjectContains: "ANNÁ", kSecMatchCaseInsensitive: true]
            #expect(try find(keychain, folded).isEmpty)
            #expect(try find(keychain, folded.merging([kSecMatchDiacriticInsensitive: true]) { $1 }) == ["rsa"])
            let wide: [CFString: Any] = [kSecMatchSubjectContains: "Ｏld", kSecMatchWidthInsensitive: true]
            #expect(try find(keychain, wide) == ["version1"])
            let both: [CFString: Any] = [kSecMatchSubjectContains: "Exam", kSecMatchSubjectEndsWith: ".org"]
            #expect(try find(keychain, both) == ["ec256"])
            let one = certificates.merging([kSecMatchSubjectContains: "org", kSecMatchLimit: 1]) { $1 }
            let found = keychain.find(one, [kSecReturnRef: true], as: SecCertificate.self)
            #expect(try found == Sample.certificate("ec256"))
            #expect(SecItemCopyMatching(one as CFDictionary, nil) == errSecSuccess)
            let attributes = keychain.find(one, [kSecReturnAttributes: true], as: [String: Any].self)
            #expect(attributes?[kSecAttrLabel as String] as? String == "ec.example.org")
        }
    }

    @Test("A54 Certificates are matched by date and issuer")
    func certificates_dateAndIssuer() async throws {
        try await Keychain.withOwn { keychain in
            try addCertificates()
            let all: Set<String> = ["rsa", "ec256", "nameless", "version1"]
            let valid = ISO8601DateFormatter().date(from: "2100-01-01T00:00:00Z")!
            #expect(try find(keychain, [kSecMatchValidOnDate: valid]) == all)
            for date in ["2026-11-21T10:13:59Z", "2126-10-28T10:14:01Z"] {
                let date = ISO8601DateFormatter().date(from: date)!
                #expect(try find(keychain, [kSecMatchValidOnDate: date]).isEmpty)
            }
            let edge = ISO8601DateFormatter().date(from: "2026-11-21T10:14:00Z")!
            #expect(try find(keychain, [kSecMatchValidOnDate: edge]) == all)

            let query = certificates.merging([kSecAttrLabel: "Anna Example", kSecMatchLimit: 1]) { $1 }
            let attributes = keychain.find(query, [kSecReturnAttributes: true], as: [String: Any].self)
            let name = try #require(attributes?[kSecAttrIssuer as String] as? Data)
            #expect(try find(keychain, [kSecMatchIssuers: [name]]) == ["rsa"])
            // A normalized name has capitals.
            var capitals = name
            capitals.replaceSubrange(try #require(name.range(of: data("Anna Example"))), with: data("ANNA EXAMPLE"))
            #expect(try find(keychain, [kSecMatchIssuers: [capitals]]) == ["rsa"])
            #expect(try find(keychain, [kSecMatchIssuers: [data("\u{30}\u{0}")]]) == ["nameless"])
            #expect(try find(keychain, [kSecMatchIssuers: [Data]()]).isEmpty)
            #expect(try find(keychain, [kSecMatchTrustedOnly: false]) == all)
            let trusted = certificates.with(kSecMatchTrustedOnly, true)
            #expect(SecItemCopyMatching(trusted, nil) == errSecUnimplemented)
        }
    }

    @Test("Identities are matched by their certificate, and updated")
    func identities_areMatchedAndUpdated() async throws {
        try await Keychain.withOwn { keychain in
            for (certificate, key) in [("rsa", "rsa-private.der"), ("ec256", "ec256-private.bin")] {
                try add(Sample.certificate(certificate))
                try add(Sample.key(key))
            }
            let query: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecMatchSubjectContains: "org"]
            let identity = try #require(keychain.find(query, [kSecReturnRef: true], as: SecIdentity.self))
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
            #expect(try certificate == Sample.certificate("ec256"))

            let change: [CFString: Any] = [
                kSecAttrLabel: "new", kSecAttrAccessGroup: "a.b", kSecAttrApplicationTag: "t",
            ]
            #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecSuccess)
            let found = try #require(keychain.find(query, [kSecReturnAttributes: true], as: [String: Any].self))
            #expect(found[kSecAttrLabel as String] as? String == "new")
            #expect(found[kSecAttrAccessGroup as String] as? String == "a.b")
            #expect(found[kSecAttrApplicationTag as String] as? String == "t")
            let moved: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrAccessGroup: "a.b"]
            #expect(SecItemCopyMatching(moved as CFDictionary, nil) == errSecSuccess)
            for (change, status) in [
                ([kSecAttrAccount: "a"], errSecNoSuchAttr), ([kSecValueData: data("1")], errSecParam),
                ([kSecAttrKeyType: kSecAttrKeyTypeRSA], errSecParam),
            ] as [([CFString: Any], OSStatus)] {
                #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == status, "\(change)")
            }
            let none: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecMatchSubjectContains: "nobody"]
            #expect(SecItemUpdate(none as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary) == errSecItemNotFound)
        }
    }

    @Test("A52 A list limits the matches", arguments: [kSecMatchItemList as String, kSecUseItemList as String])
    func itemList_limitsMatches(name: String) async throws {
        let key = name as NSString
        try await Keychain.withOwn { keychain in
            for account in ["a", "b", "c"] {
                #expect(SecItemAdd(keychain.generic(account, [kSecValueData: data(account)]), nil) == errSecSuccess)
            }
            let persistent = try #require(
                keychain.find(keychain.generic("c", [kSecReturnPersistentRef: true]), as: Data.self)
            )
            let reference = try #require(
                keychain.find(keychain.generic("a", [kSecReturnRef: true]), as: SecKeychainItem.self)
            )
            let list = [persistent, reference] as [Any]
            #expect(
                keychain.find(keychain.all([key: list, kSecReturnData: true]), as: [Data].self) == ["a", "c"].map(data)
            )
            #expect(keychain.secret(keychain.generic("c", [key: list])) == "c")
            #expect(SecItemCopyMatching(keychain.generic("b", [key: list]), nil) == errSecItemNotFound)
            #expect(SecItemCopyMatching(keychain.all([key: [Any]()]), nil) == errSecItemNotFound)
            #expect(
                SecItemUpdate(keychain.generic("b", [key: list]), [kSecValueData: Data()] as CFDictionary) == -25300
            )
            #expect(
                SecItemDelete(keychain.all([kSecMatchLimit: kSecMatchLimitAll, key: [reference]])) == errSecSuccess
            )
            #expect(keychain.find(keychain.all([kSecReturnData: true]), as: [Data].self) == ["b", "c"].map(data))

            // Keys and certificates from elsewhere.
            try addCertificates()
            try add(Sample.key("ec256-private.bin"))
            try add(Sample.key("ec384-private.bin"))
            let listed = [try Sample.certificate("rsa"), try Sample.certificate("ec384")]
            #expect(try find(keychain, [key: listed]) == ["rsa"])
            let keys: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, key: [try Sample.key("ec256-private.bin")],
            ]
            #expect(
                try keychain.find(keys, [kSecReturnRef: true], as: [SecKey].self) == [Sample.key("ec256-private.bin")]
            )
        }
    }

    private static let samples = ["rsa", "ec256", "nameless", "version1"]

    private func addCertificates() throws {
        for name in Self.samples { try add(Sample.certificate(name)) }
    }

    private func add(_ object: Any) throws {
        #expect(SecItemAdd([kSecValueRef: object] as [CFString: Any] as CFDictionary, nil) == errSecSuccess)
    }

    /// The names of the sample certificates that a query finds.
    private func find(_ keychain: Keychain, _ conditions: [CFString: Any]) throws -> Set<String> {
        let query = certificates.merging(conditions) { $1 }
        let found = keychain.find(query, [kSecReturnRef: true], as: [SecCertificate].self) ?? []
        return try Set(Self.samples.filter { found.contains(try Sample.certificate($0)) })
    }
}
