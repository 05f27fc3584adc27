import Foundation
import LocalAuthentication
import Security

@main
enum App {
    static func main() async throws {
        switch CommandLine.arguments.dropFirst().first {
        case "store": print(add(kSecClassGenericPassword, "correct horse"))
        case "read": print(password ?? "nothing")
        case "store-key": print(add(kSecClassKey, "bytes"))
        case "store-certificate": print(add(kSecClassCertificate, "bytes"))
        case "store-identity": print(add(kSecClassIdentity, "bytes"))
        case "find-identity": print(status(of: kSecClassIdentity))
        case "find-key": print(status(of: kSecClassKey))
        case "find-subject": print(status(of: kSecClassCertificate, [kSecMatchSubjectContains: "a"]))
        case "rights":
            try await LARightStore.shared.removeAllRights()
            print("removed")
        default: print("unknown")
        }
    }

    static func add(_ itemClass: CFString, _ secret: String) -> OSStatus {
        var item: [CFString: Any] = [kSecClass: itemClass, kSecValueData: Data(secret.utf8)]
        if itemClass == kSecClassGenericPassword { item[kSecAttrService] = "Passwords" }
        return SecItemAdd(item as CFDictionary, nil)
    }

    static var password: String? {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "Passwords", kSecReturnData: true,
            kSecUseAuthenticationContext: LAContext(),
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    static func status(of itemClass: CFString, _ conditions: [CFString: Any] = [:]) -> OSStatus {
        let query: [CFString: Any] = [kSecClass: itemClass, kSecReturnRef: true]
        var result: CFTypeRef?
        return SecItemCopyMatching(query.merging(conditions) { $1 } as CFDictionary, &result)
    }
}
