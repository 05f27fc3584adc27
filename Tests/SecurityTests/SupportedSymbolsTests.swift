import Foundation
import KeychaindTestSupport
import Security
import Testing

/// Compares the table of supported symbols with the behaviour of the keys.
struct SupportedSymbolsTests {
    /// Apple's query keys without a counterpart.
    private static var unimplemented: [String: CFString] {
        [
            "kSecAttrAccess": kSecAttrAccess, "kSecMatchPolicy": kSecMatchPolicy,
            "kSecMatchSearchList": kSecMatchSearchList, "kSecUseKeychain": kSecUseKeychain,
            "kSecAttrIsSensitive": kSecAttrIsSensitive, "kSecAttrPersistentReference": kSecAttrPersistentReference,
            "kSecAttrPersistantReference": kSecAttrPersistantReference, "kSecAttrSyncViewHint": kSecAttrSyncViewHint,
            "kSecAttrPRF": kSecAttrPRF, "kSecAttrSalt": kSecAttrSalt, "kSecAttrRounds": kSecAttrRounds,
            "kSecMatchHostOrSubdomainOfHost": kSecMatchHostOrSubdomainOfHost,
            "kSecUseUserIndependentKeychain": kSecUseUserIndependentKeychain,
        ]
    }

    /// Ignored keys, each with a valid value.
    private static var ignored: [String: (key: CFString, value: Any)] {
        ["kSecUseDataProtectionKeychain": (kSecUseDataProtectionKeychain, true)]
    }

    /// The names in the rows with a status.
    private static func names(_ becomes: String) throws -> Set<String> {
        let table = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Security/Security.docc/SupportedSymbols.md")
        let rows = try String(contentsOf: table, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("| ``") && $0.contains("`` | \(becomes)")
        }
        return Set(rows.flatMap { $0.matches(of: /``(kSec\w+)``/).map { String($0.1) } })
    }

    @Test("Exactly the keys documented as unimplemented are refused")
    func unimplemented_answersSo() async throws {
        // Values of a class or key are documented with it.
        let values = try Self.names("errSecUnimplemented as").union(Self.names("errSecUnimplemented with"))
        let told = try Self.names("errSecUnimplemented").subtracting(values)
        #expect(told == Set(Self.unimplemented.keys))
        try await Keychain.with { keychain in
            for (name, key) in Self.unimplemented {
                #expect(SecItemAdd(keychain.generic("anna", [key: "1"]), nil) == errSecUnimplemented, "\(name)")
                let found = SecItemCopyMatching(keychain.generic("anna", [key: "1"]), nil)
                #expect(found == errSecUnimplemented, "\(name)")
            }
        }
    }

    @Test("Ignored keys are accepted without effect")
    func ignored_makesNoDifference() async throws {
        let told = try Self.names("ignored").subtracting(["kSecRandomDefault"])
        #expect(told == Set(Self.ignored.keys))
        try await Keychain.with { keychain in
            let more = Dictionary(uniqueKeysWithValues: Self.ignored.values.map { ($0.key, $0.value) })
            let added = SecItemAdd(keychain.generic("anna", more.merging([kSecValueData: data("1")]) { $1 }), nil)
            #expect(added == errSecSuccess)
            #expect(keychain.secret(keychain.generic("anna", more)) == "1")
            #expect(keychain.secret(keychain.generic("anna")) == "1")
            // As on Apple's systems, the result can be ignored.
            SecItemDelete(keychain.generic("anna"))
            #expect(keychain.secret(keychain.generic("anna")) == nil)
        }
    }

    @Test("An access control that needs a companion is refused")
    func companion_isUnimplemented() {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .companion, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(errSecUnimplemented))
    }
}
