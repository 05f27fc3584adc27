// What stands between "The text" and "Its end" is the text, byte for byte; the rest is what its reader has to add.
// swift-format-ignore-file

import LocalAuthentication
import Security

// The text:
  func requestBiometricUnlock() {
    let context = LAContext()
    
    var error: NSError? = nil
    
    let canEvaluate = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
    
    if canEvaluate {
      if context.biometryType != .none {
        print("We got a biometric")
        context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "To access your data") { (success, error) in
          if success {
            print("Authenticated successfully!")
          }
        }
      }
    }
  }
// Its end.

func makeAccessControl() -> SecAccessControl? {
// The text:
let accessControl = SecAccessControlCreateWithFlags(
  nil,
  kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
  .userPresence,
  nil)
// Its end.
    return accessControl
}

func addPassword() -> (OSStatus, AnyObject?) {
// The text:
let accessControl = SecAccessControlCreateWithFlags(
  nil,
  kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
  .userPresence,
  nil)!

let query = [
  kSecClass: kSecClassInternetPassword,
  kSecAttrAccount: "andyibanez",
  kSecValueData: "Pullip2020".data(using: .utf8)!,
  kSecAttrServer: "pullipstyle.com",
  kSecAttrAccessControl: accessControl,
  kSecReturnData: true
] as CFDictionary

var result: AnyObject?

let status = SecItemAdd(query, &result)
// Its end.
    return (status, result)
}

func findPassword() -> (OSStatus, AnyObject?) {
// The text:
let searchQuery = [
  kSecClass: kSecClassInternetPassword,
  kSecAttrAccount: "andyibanez.com",
  kSecAttrServer: "pullipstyle.com",
  kSecMatchLimit: kSecMatchLimitOne,
  kSecReturnData: true,
  kSecReturnAttributes: true,
  kSecUseOperationPrompt: "Access your data"
] as CFDictionary

var item: AnyObject?

let status = SecItemCopyMatching(searchQuery, &item)
// Its end.
    return (status, item)
}
