import Foundation

/// Adds a password for a service and an account.
///
/// The keychain is ignored: there is only one.
///
/// - Returns: the status of ``SecItemAdd(_:_:)``; ``errSecParam`` for names that are not UTF-8.
@discardableResult
public func SecKeychainAddGenericPassword(
    _ keychain: SecKeychain?,
    _ serviceNameLength: UInt32,
    _ serviceName: UnsafePointer<CChar>?,
    _ accountNameLength: UInt32,
    _ accountName: UnsafePointer<CChar>?,
    _ passwordLength: UInt32,
    _ passwordData: UnsafeRawPointer,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status { () throws(StatusError) in
        var password = KeychainPassword(kSecClassGenericPassword)
        try password.set(kSecAttrService, serviceName, serviceNameLength)
        try password.set(kSecAttrAccount, accountName, accountNameLength)
        try password.add(passwordData, passwordLength, itemRef)
    }
}

/// Finds a password for a service and an account.
///
/// A service or account of nil is any. The keychain is ignored: there is only one. The password is a copy, which
/// ``SecKeychainItemFreeContent(_:_:)`` wipes and frees.
///
/// - Returns: the status of ``SecItemCopyMatching(_:_:)``.
@discardableResult
public func SecKeychainFindGenericPassword(
    _ keychainOrArray: CFTypeRef?,
    _ serviceNameLength: UInt32,
    _ serviceName: UnsafePointer<CChar>?,
    _ accountNameLength: UInt32,
    _ accountName: UnsafePointer<CChar>?,
    _ passwordLength: UnsafeMutablePointer<UInt32>?,
    _ passwordData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status { () throws(StatusError) in
        var password = KeychainPassword(kSecClassGenericPassword)
        try password.set(kSecAttrService, serviceName, serviceNameLength)
        try password.set(kSecAttrAccount, accountName, accountNameLength)
        try password.find(passwordLength, passwordData, itemRef)
    }
}

/// Adds a password for a server.
///
/// The keychain is ignored: there is only one.
///
/// - Returns: the status of ``SecItemAdd(_:_:)``; ``errSecParam`` for names that are not UTF-8.
@discardableResult
public func SecKeychainAddInternetPassword(
    _ keychain: SecKeychain?,
    _ serverNameLength: UInt32,
    _ serverName: UnsafePointer<CChar>?,
    _ securityDomainLength: UInt32,
    _ securityDomain: UnsafePointer<CChar>?,
    _ accountNameLength: UInt32,
    _ accountName: UnsafePointer<CChar>?,
    _ pathLength: UInt32,
    _ path: UnsafePointer<CChar>?,
    _ port: UInt16,
    _ protocol: SecProtocolType,
    _ authenticationType: SecAuthenticationType,
    _ passwordLength: UInt32,
    _ passwordData: UnsafeRawPointer,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status { () throws(StatusError) in
        var password = KeychainPassword(kSecClassInternetPassword)
        try password.set(kSecAttrServer, serverName, serverNameLength)
        try password.set(kSecAttrSecurityDomain, securityDomain, securityDomainLength)
        try password.set(kSecAttrAccount, accountName, accountNameLength)
        try password.set(kSecAttrPath, path, pathLength)
        password.set(port, `protocol`, authenticationType)
        try password.add(passwordData, passwordLength, itemRef)
    }
}

/// Finds a password for a server.
///
/// A name of nil is any, and so is the port 0, the protocol ``SecProtocolType/any``, and the types
/// ``SecAuthenticationType/any`` and ``SecAuthenticationType/default``. The keychain is ignored: there is only one. The
/// password is a copy, which ``SecKeychainItemFreeContent(_:_:)`` wipes and frees.
///
/// - Returns: the status of ``SecItemCopyMatching(_:_:)``.
@discardableResult
public func SecKeychainFindInternetPassword(
    _ keychainOrArray: CFTypeRef?,
    _ serverNameLength: UInt32,
    _ serverName: UnsafePointer<CChar>?,
    _ securityDomainLength: UInt32,
    _ securityDomain: UnsafePointer<CChar>?,
    _ accountNameLength: UInt32,
    _ accountName: UnsafePointer<CChar>?,
    _ pathLength: UInt32,
    _ path: UnsafePointer<CChar>?,
    _ port: UInt16,
    _ protocol: SecProtocolType,
    _ authenticationType: SecAuthenticationType,
    _ passwordLength: UnsafeMutablePointer<UInt32>?,
    _ passwordData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status { () throws(StatusError) in
        var password = KeychainPassword(kSecClassInternetPassword)
        try password.set(kSecAttrServer, serverName, serverNameLength)
        try password.set(kSecAttrSecurityDomain, securityDomain, securityDomainLength)
        try password.set(kSecAttrAccount, accountName, accountNameLength)
        try password.set(kSecAttrPath, path, pathLength)
        password.set(port, `protocol`, authenticationType == .default ? .any : authenticationType)
        try password.find(passwordLength, passwordData, itemRef)
    }
}

/// The query of a function for passwords.
private struct KeychainPassword {
    private var query: [CFString: Any]

    init(_ itemClass: CFString) {
        query = SecKeychain.interaction
        query[kSecClass] = itemClass
    }

    mutating func set(_ key: CFString, _ text: UnsafePointer<CChar>?, _ length: UInt32) throws(StatusError) {
        guard let text else { return }
        query[key] = try KeychainContent.text(UnsafeRawBufferPointer(start: text, count: Int(length)))
    }

    mutating func set(_ port: UInt16, _ type: SecProtocolType, _ authentication: SecAuthenticationType) {
        if port != 0 { query[kSecAttrPort] = Int(port) }
        if type != .any { query[kSecAttrProtocol] = KeychainContent.code(type.rawValue) }
        if authentication != .any { query[kSecAttrAuthenticationType] = KeychainContent.code(authentication.rawValue) }
    }

    func add(
        _ secret: UnsafeRawPointer,
        _ length: UInt32,
        _ item: UnsafeMutablePointer<SecKeychainItem?>?
    ) throws(StatusError) {
        var query = query
        query[kSecValueData] = Data(bytes: secret, count: Int(length))
        query[kSecReturnRef] = true
        var result: CFTypeRef?
        let added = SecItemAdd(query as CFDictionary, &result)
        guard added == errSecSuccess else { throw StatusError(added, "the password was not added") }
        item?.pointee = result as? SecKeychainItem
    }

    func find(
        _ length: UnsafeMutablePointer<UInt32>?,
        _ secret: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        _ item: UnsafeMutablePointer<SecKeychainItem?>?
    ) throws(StatusError) {
        var query = query
        query[kSecReturnRef] = true
        // Without a place for it, nobody is asked for the secret.
        let needsSecret = length != nil || secret != nil
        query[kSecReturnData] = needsSecret
        query[kSecReturnAttributes] = true
        var result: CFTypeRef?
        let found = SecItemCopyMatching(query as CFDictionary, &result)
        guard found == errSecSuccess, let parts = result as? [String: Any] else {
            throw StatusError(found == errSecSuccess ? errSecItemNotFound : found, "the password was not found")
        }
        let bytes = parts[kSecValueData as String] as? Data ?? Data()
        length?.pointee = UInt32(clamping: bytes.count)
        if let secret { secret.pointee = KeychainContent.copy(bytes) }
        item?.pointee = parts[kSecValueRef as String] as? SecKeychainItem
    }
}
