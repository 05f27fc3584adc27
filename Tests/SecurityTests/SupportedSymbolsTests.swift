import Foundation
import Security
import TestSupport
import Testing

/// What the table of supported symbols says of keys is what they do.
struct SupportedSymbolsTests {
    /// The keys of queries that Apple has and that have no counterpart.
    private static var unimplemented: [String: CFString] {
        [
            "kSecAttrAccess": kSecAttrAccess, "kSecMatchPolicy": kSecMatchPolicy,
            "kSecMatchIssuers": kSecMatchIssuers, "kSecMatchSubjectContains": kSecMatchSubjectContains,
            "kSecMatchEmailAddressIfPresent": kSecMatchEmailAddressIfPresent,
            "kSecMatchTrustedOnly": kSecMatchTrustedOnly, "kSecMatchValidOnDate": kSecMatchValidOnDate,
            "kSecMatchItemList": kSecMatchItemList, "kSecMatchSearchList": kSecMatchSearchList,
            "kSecUseKeychain": kSecUseKeychain, "kSecUseItemList": kSecUseItemList,
            "kSecAttrTokenID": kSecAttrTokenID,
        ]
    }

    /// Keys that make no difference, with a value that they can have.
    private static var ignored: [String: (key: CFString, value: Any)] {
        ["kSecUseDataProtectionKeychain": (kSecUseDataProtectionKeychain, true)]
    }

    /// The names in the rows of which the table says something.
    private static func names(_ becomes: String) throws -> Set<String> {
        let table = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Security/Security.docc/SupportedSymbols.md")
        let rows = try String(contentsOf: table, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("| ``") && $0.contains("`` | \(becomes)")
        }
        return Set(rows.flatMap { $0.matches(of: /``(kSec\w+)``/).map { String($0.1) } })
    }

    @Test("What is not implemented says so, and nothing else does")
    func unimplemented_answersSo() async throws {
        // What is told of with the class or the key that it is a value of.
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

    @Test("What is ignored is taken, and makes no difference")
    func ignored_makesNoDifference() async throws {
        let told = try Self.names("ignored").subtracting(["kSecRandomDefault"])
        #expect(told == Set(Self.ignored.keys))
        try await Keychain.with { keychain in
            let more = Dictionary(uniqueKeysWithValues: Self.ignored.values.map { ($0.key, $0.value) })
            let added = SecItemAdd(keychain.generic("anna", more.merging([kSecValueData: data("1")]) { $1 }), nil)
            #expect(added == errSecSuccess)
            #expect(keychain.secret(keychain.generic("anna", more)) == "1")
            #expect(keychain.secret(keychain.generic("anna")) == "1")
            // As on Apple's systems, who does not want the status may leave it.
            SecItemDelete(keychain.generic("anna"))
            #expect(keychain.secret(keychain.generic("anna")) == nil)
        }
    }

    @Test(
        "Flags of an access control that are not implemented say so",
        arguments: [
            SecAccessControlCreateFlags.companion, .privateKeyUsage,
        ]
    )
    func flags_unimplemented_answerSo(flag: SecAccessControlCreateFlags) {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flag, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(errSecUnimplemented))
    }
}
