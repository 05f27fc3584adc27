public import Foundation

/// The type of an attribute: a ``SecItemAttr`` as a number.
public typealias SecKeychainAttrType = OSType

/// An attribute in the memory of C.
public struct SecKeychainAttribute {
    /// A ``SecItemAttr`` as a number.
    public var tag: SecKeychainAttrType

    /// The number of bytes.
    public var length: UInt32

    /// The bytes.
    public var data: UnsafeMutableRawPointer?

    /// Creates an attribute.
    public init(tag: SecKeychainAttrType, length: UInt32, data: UnsafeMutableRawPointer?) {
        self.tag = tag
        self.length = length
        self.data = data
    }
}

/// Attributes in the memory of C.
public struct SecKeychainAttributeList {
    /// The number of attributes.
    public var count: UInt32

    /// The attributes.
    public var attr: UnsafeMutablePointer<SecKeychainAttribute>?

    /// Creates a list.
    public init(count: UInt32, attr: UnsafeMutablePointer<SecKeychainAttribute>?) {
        self.count = count
        self.attr = attr
    }
}

/// Changes attributes and the secret of an item.
///
/// A list or a secret of nil changes nothing.
///
/// - Returns: the status of ``SecItemUpdate(_:_:)``.
@discardableResult
public func SecKeychainItemModifyAttributesAndData(
    _ itemRef: SecKeychainItem,
    _ attrList: UnsafePointer<SecKeychainAttributeList>?,
    _ length: UInt32,
    _ data: UnsafeRawPointer?
) -> OSStatus {
    status { () throws(StatusError) in
        var changes: [String: Any] = [:]
        if let attributes = attrList?.pointee.attributes {
            for attribute in attributes { changes[KeychainContent.code(attribute.tag)] = try attribute.value }
        }
        if let data { changes[kSecValueData as String] = Data(bytes: data, count: Int(length)) }
        let changed = SecItemUpdate(query(for: itemRef) as CFDictionary, changes as CFDictionary)
        guard changed == errSecSuccess else { throw StatusError(changed, "the item was not changed") }
    }
}

/// Changes attributes and the secret of an item, as ``SecKeychainItemModifyAttributesAndData(_:_:_:_:)`` does.
@discardableResult
public func SecKeychainItemModifyContent(
    _ itemRef: SecKeychainItem,
    _ attrList: UnsafePointer<SecKeychainAttributeList>?,
    _ length: UInt32,
    _ data: UnsafeRawPointer?
) -> OSStatus {
    SecKeychainItemModifyAttributesAndData(itemRef, attrList, length, data)
}

/// Copies attributes and the secret of an item.
///
/// Attributes that the item does not have are empty. Without a place for the secret, nobody is asked for permission.
///
/// - Returns: the status of ``SecItemCopyMatching(_:_:)``. ``SecKeychainItemFreeContent(_:_:)`` wipes and frees all.
@discardableResult
public func SecKeychainItemCopyContent(
    _ itemRef: SecKeychainItem,
    _ itemClass: UnsafeMutablePointer<SecItemClass>?,
    _ attrList: UnsafeMutablePointer<SecKeychainAttributeList>?,
    _ length: UnsafeMutablePointer<UInt32>?,
    _ outData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> OSStatus {
    status { () throws(StatusError) in
        var asked = query(for: itemRef)
        asked[kSecReturnAttributes] = true
        asked[kSecReturnData] = outData != nil
        var result: CFTypeRef?
        let found = SecItemCopyMatching(asked as CFDictionary, &result)
        guard found == errSecSuccess, let parts = result as? [String: Any] else {
            throw StatusError(found == errSecSuccess ? errSecItemNotFound : found, "the item was not found")
        }
        let isInternet = parts[kSecClass as String] as? String == kSecClassInternetPassword as String
        itemClass?.pointee = isInternet ? .internetPasswordItemClass : .genericPasswordItemClass
        if let attributes = attrList?.pointee.attributes {
            for index in attributes.indices { attributes[index].take(parts) }
        }
        KeychainContent.deliver(parts, length, outData)
    }
}

/// Wipes and frees contents that a function has copied.
///
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecKeychainItemFreeContent(
    _ attrList: UnsafeMutablePointer<SecKeychainAttributeList>?,
    _ data: UnsafeMutableRawPointer?
) -> OSStatus {
    if let attributes = attrList?.pointee.attributes {
        for index in attributes.indices {
            KeychainContent.free(attributes[index].data)
            attributes[index].data = nil
            attributes[index].length = 0
        }
    }
    KeychainContent.free(data)
    return errSecSuccess
}

// MARK: Items

/// Deletes an item permanently.
///
/// - Returns: the status of ``SecItemDelete(_:)``.
@discardableResult
public func SecKeychainItemDelete(_ itemRef: SecKeychainItem) -> OSStatus {
    SecItemDelete(query(for: itemRef) as CFDictionary)
}

/// Copies the keychain of an item, which is the only one.
///
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecKeychainItemCopyKeychain(
    _ itemRef: SecKeychainItem,
    _ keychainRef: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    SecKeychainCopyDefault(keychainRef)
}

/// Copies the persistent reference to an item.
///
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecKeychainItemCreatePersistentReference(
    _ itemRef: SecKeychainItem,
    _ persistentItemRef: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    persistentItemRef.pointee = Data(itemRef.reference.bytes) as NSData
    return errSecSuccess
}

/// Finds the item of a persistent reference.
///
/// - Returns: the status of ``SecItemCopyMatching(_:_:)``.
@discardableResult
public func SecKeychainItemCopyFromPersistentReference(
    _ persistentItemRef: CFData,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>
) -> OSStatus {
    var result: CFTypeRef?
    var query = SecKeychain.interaction
    query[kSecValuePersistentRef] = persistentItemRef
    query[kSecReturnRef] = true
    let found = SecItemCopyMatching(query as CFDictionary, &result)
    if let item = result as? SecKeychainItem { itemRef.pointee = item }
    return found
}

/// The query for an item.
private func query(for item: SecKeychainItem) -> [CFString: Any] {
    SecKeychain.interaction.merging([kSecValueRef: item]) { $1 }
}

extension SecKeychainAttributeList {
    fileprivate var attributes: UnsafeMutableBufferPointer<SecKeychainAttribute> {
        UnsafeMutableBufferPointer(start: attr, count: attr == nil ? 0 : Int(count))
    }
}

extension SecKeychainAttribute {
    private var isNumber: Bool {
        let numbers: [SecItemAttr] = [
            .creatorItemAttr, .typeItemAttr, .invisibleItemAttr, .negativeItemAttr, .portItemAttr,
        ]
        return numbers.contains { $0.rawValue == tag }
    }

    private var isCode: Bool {
        tag == SecItemAttr.protocolItemAttr.rawValue || tag == SecItemAttr.authenticationTypeItemAttr.rawValue
    }

    /// The value for a query; throws ``errSecParam`` for bytes of the wrong form.
    fileprivate var value: Any {
        get throws(StatusError) {
            let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : Int(length))
            if tag == SecItemAttr.genericItemAttr.rawValue { return Data(bytes) }
            guard isNumber || isCode else { return try KeychainContent.text(bytes) }
            let number: UInt32
            switch bytes.count {
            case 1: number = UInt32(bytes[0])
            case 2: number = UInt32(bytes.loadUnaligned(as: UInt16.self))
            case 4: number = bytes.loadUnaligned(as: UInt32.self)
            default: throw StatusError(errSecParam, "a number has \(bytes.count) bytes")
            }
            return isCode ? KeychainContent.code(number) : NSNumber(value: number)
        }
    }

    /// Copies the value from a result.
    fileprivate mutating func take(_ parts: [String: Any]) {
        let bytes: Data
        switch parts[KeychainContent.code(tag)] {
        case let text as String where isCode && text.utf8.count == 4:
            bytes = withUnsafeBytes(of: text.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) { Data($0) }
        case let text as String: bytes = Data(text.utf8)
        case let data as Data: bytes = data
        case let number as NSNumber: bytes = withUnsafeBytes(of: number.uint32Value) { Data($0) }
        default:
            data = nil
            length = 0
            return
        }
        data = KeychainContent.copy(bytes)
        length = UInt32(clamping: bytes.count)
    }
}

extension KeychainContent {
    /// Copies the secret of a result.
    fileprivate static func deliver(
        _ parts: [String: Any],
        _ length: UnsafeMutablePointer<UInt32>?,
        _ data: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) {
        guard let data else { return }
        let secret = parts[kSecValueData as String] as? Data ?? Data()
        length?.pointee = UInt32(clamping: secret.count)
        data.pointee = copy(secret)
    }
}
