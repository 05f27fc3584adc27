import Foundation
import KeychainModel
import SecretServiceClient

/// What a query has found of one item; what was not asked for is missing.
struct FoundItem: Sendable {
    let reference: PersistentReference
    var item: KeychainItem?
    var properties: SecretItem.Properties?
    var data: [UInt8]?

    /// The item as the caller wants it: one thing alone, or several in a dictionary; nil if nothing was wanted.
    func result(_ returns: ItemQuery.Returns) -> CFTypeRef? {
        switch returns {
        case []: nil
        case .data: dataObject
        case .reference: SecKeychainItem(reference)
        case .persistentReference: Data(reference.bytes) as NSData
        default: dictionary(returns) as NSDictionary
        }
    }

    private var dataObject: NSData { Data(data ?? []) as NSData }

    private func dictionary(_ returns: ItemQuery.Returns) -> [String: Any] {
        var result = returns.contains(.attributes) ? attributes : [:]
        if returns.contains(.data) { result[kSecValueData as String] = dataObject }
        if returns.contains(.reference) { result[kSecValueRef as String] = SecKeychainItem(reference) }
        if returns.contains(.persistentReference) {
            result[kSecValuePersistentRef as String] = Data(reference.bytes) as NSData
        }
        return result
    }

    private var attributes: [String: Any] {
        guard let item, let properties else { return [:] }
        var result: [String: Any] = [
            kSecClass as String: item.itemClass.code as NSString,
            kSecAttrCreationDate as String: NSDate(timeIntervalSince1970: Double(properties.created)),
            kSecAttrModificationDate as String: NSDate(timeIntervalSince1970: Double(properties.modified)),
            kSecAttrSynchronizable as String: NSNumber(value: 0),
        ]
        for (attribute, value) in item.values {
            if let code = attribute.code { result[code] = FoundItem.object(value) }
        }
        result[kSecAttrLabel as String] = item.storedLabel as NSString
        result[kSecAttrAccessible as String] = accessibility(item)?.code as NSString?
        result[kSecAttrAccessControl as String] = accessControl(item)
        return result
    }

    private func accessControl(_ item: KeychainItem) -> SecAccessControl? {
        guard case .text(let text)? = item[.accessControl], let control = try? AccessControl(parsing: text) else {
            return nil
        }
        return SecAccessControl(accessibility(item) ?? .always, control)
    }

    private func accessibility(_ item: KeychainItem) -> Accessibility? {
        guard case .text(let text)? = item[.accessible] else { return nil }
        return Accessibility(rawValue: text)
    }

    /// Booleans are the numbers 0 and 1, which cast to `Bool`, `Int` and `NSNumber` alike.
    private static func object(_ value: KeychainValue) -> AnyObject {
        switch value {
        case .text(let text): text as NSString
        case .data(let bytes): Data(bytes) as NSData
        case .number(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag ? 1 : 0)
        }
    }
}
