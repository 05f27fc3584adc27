import Foundation
import KeychaindModel
import SecretServiceClient

/// An item found by a query, with the requested parts.
struct FoundItem: Sendable {
    let reference: PersistentReference
    var itemClass: ItemClass?
    var item: KeychainItem?
    var times: ItemTimes?
    /// Nil if it was not requested, or is that of a key which is only used.
    var data: [UInt8]?
    /// How a person may be asked when a key in the item is used.
    var authentication = KeyAuthentication()

    /// The requested result: a single value, or a dictionary of several; nil if nothing was requested.
    ///
    /// Throws ``errSecDecode`` if a key or certificate is requested and its data is invalid.
    func result(_ returns: ItemQuery.Returns) throws(StatusError) -> CFTypeRef? {
        switch returns {
        case []: nil
        case .data: data.map { Data($0) as NSData }
        case .reference: try object
        case .persistentReference: Data(reference.bytes) as NSData
        default: try dictionary(returns) as NSDictionary
        }
    }

    private var object: CFTypeRef {
        get throws(StatusError) { try contents ?? SecKeychainItem(reference) }
    }

    var dataObject: NSData { Data(data ?? []) as NSData }

    private func dictionary(_ returns: ItemQuery.Returns) throws(StatusError) -> [String: Any] {
        var result = returns.contains(.attributes) ? attributes : [:]
        if returns.contains(.data), let data { result[kSecValueData as String] = Data(data) as NSData }
        if returns.contains(.reference) { result[kSecValueRef as String] = try object }
        if returns.contains(.persistentReference) {
            result[kSecValuePersistentRef as String] = Data(reference.bytes) as NSData
        }
        return result
    }

    var attributes: [String: Any] {
        guard let item, let times else { return [:] }
        var result: [String: Any] = [
            kSecClass as String: item.itemClass.code as NSString,
            kSecAttrCreationDate as String: ItemTimes.date(times.created),
            kSecAttrModificationDate as String: ItemTimes.date(times.modified),
            kSecAttrSynchronizable as String: NSNumber(value: 0),
            kSecAttrAccessGroup as String: ProgramGroup.known as NSString,
        ]
        for attribute in KeychainAttribute.allCases where item.itemClass.has(attribute) {
            if let code = attribute.code, let value = item.effective(attribute) { result[code] = value.object }
        }
        let label = item.storedLabel
        result[kSecAttrLabel as String] = item.isLabelData ? Data(label.utf8) as NSData : label as NSString
        var values = item.values
        values[.accessible] = item.effective(.accessible)
        result[kSecAttrAccessible as String] = values.accessibility?.code as NSString?
        result[kSecAttrAccessControl as String] = values.secAccessControl
        return result
    }
}

/// How a person may be asked when a key is used: as the query said by which it was found.
struct KeyAuthentication: Sendable {
    /// The program's authentication context, if any; its settings are read at each use.
    var context: (any AuthenticationContextSource)?
    var interaction = ItemQuery.Interaction.ask
    var operationPrompt = ""

    /// A query without content, for one use.
    var query: ItemQuery {
        var query = ItemQuery()
        query.context = context?.snapshot
        query.interaction = interaction
        query.operationPrompt = operationPrompt
        return query
    }
}

extension [KeychainAttribute: KeychainValue] {
    var accessibility: Accessibility? {
        guard case .text(let text)? = self[.accessible] else { return nil }
        return Accessibility(rawValue: text)
    }

    var secAccessControl: SecAccessControl? {
        guard case .text(let text)? = self[.accessControl], let control = try? AccessControl(parsing: text) else {
            return nil
        }
        return SecAccessControl(accessibility ?? .always, control)
    }
}

/// The times of an item in microseconds since 1970.
struct ItemTimes: Sendable {
    let created: UInt64
    let modified: UInt64

    init(_ record: SecretItemRecord) {
        created = record.created
        modified = record.modified
    }

    static func date(_ microseconds: UInt64) -> NSDate {
        NSDate(timeIntervalSince1970: Double(microseconds) / 1e6)
    }
}

extension KeychainValue {
    /// The value as an object.
    ///
    /// Booleans are the numbers 0 and 1, which cast to `Bool`, `Int` and `NSNumber`.
    var object: AnyObject {
        switch self {
        case .text(let text): text as NSString
        case .data(let bytes): Data(bytes) as NSData
        case .number(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag ? 1 : 0)
        }
    }
}
