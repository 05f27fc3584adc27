// What stands between "The text" and "Its end" is the text, byte for byte; the rest is what its reader has to add.
// swift-format-ignore-file

import Foundation
import LocalAuthentication
// The text:
import Security
// Its end.

func addToken(_ done: (OSStatus) -> Void) {
// The text:
guard let accessControl = SecAccessControlCreateWithFlags(
nil,
kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
.biometryCurrentSet,
nil
) else { return }
let query: [String: Any] = [
kSecClass as String: kSecClassGenericPassword,
kSecAttrAccount as String: "user_token",
kSecValueData as String: Data("secret-token".utf8),
kSecAttrAccessControl as String: accessControl,
]
let addStatus = SecItemAdd(query as CFDictionary, nil)
// Check addStatus == errSecSuccess in production
// Its end.
    done(addStatus)
}

func readToken() -> (OSStatus, AnyObject?) {
// The text:
let query: [String: Any] = [
kSecClass as String: kSecClassGenericPassword,
kSecAttrAccount as String: "user_token",
kSecReturnData as String: true,
kSecUseAuthenticationContext as String: LAContext(),
]
var result: AnyObject?
let readStatus = SecItemCopyMatching(query as CFDictionary, &result)
// Check readStatus == errSecSuccess in production
// Its end.
    return (readStatus, result)
}
