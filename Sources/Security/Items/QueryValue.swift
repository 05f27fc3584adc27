import Foundation
import KeychaindModel

/// A value in a query: a Swift or Foundation value, also as an Optional in an Any.
enum QueryValue {
    case text(String)
    case data([UInt8])
    case number(Int64)
    case date(Date)
    case object(AnyObject)
    case missing

    init(_ value: Any) {
        switch value {
        case let text as String: self = .text(text)
        case let data as Data: self = .data([UInt8](data))
        case let flag as Bool: self = .number(flag ? 1 : 0)
        case let number as NSNumber: self = .number(number.int64Value)
        case let date as Date: self = .date(date)
        case let text as NSString: self = .text(text as String)
        case let data as NSData: self = .data(data.contents)
        case let date as NSDate: self = .date(date as Date)
        case let url as URL: self = .text(url.absoluteString)
        default: self = QueryValue.other(value)
        }
    }

    /// Reads an object as a dictionary stores it; nil for one that Foundation has to convert.
    private init?(stored object: Any) {
        let type = type(of: object)
        // Casts that fail take longest.
        if type == NSString.self, let text = object as? NSString {
            self = .text(text as String)
        } else if type == NSData.self, let data = object as? NSData {
            self = .data(data.contents)
        } else if type == NSNumber.self, let number = object as? NSNumber {
            self = .number(number.int64Value)
        } else if object as AnyObject === kCFBooleanTrue {
            self = .number(1)
        } else if object as AnyObject === kCFBooleanFalse {
            self = .number(0)
        } else {
            return nil
        }
    }

    /// The entries of a query.
    static func entries(of query: CFDictionary) throws(StatusError) -> [String: QueryValue] {
        var entries: [String: QueryValue] = [:]
        entries.reserveCapacity(query.count)
        // Foundation lists its own dictionaries without the conversions, which take longest.
        for (key, value) in zip(query.allKeys, query.allValues) {
            guard case .text(let name)? = QueryValue(stored: key) ?? (key as? String).map(QueryValue.text) else {
                throw StatusError(errSecParam, "a key of the query is not text")
            }
            entries[name] = QueryValue(stored: value) ?? QueryValue(query.object(forKey: key) ?? value)
        }
        return entries
    }

    /// Another object, or an Optional that the casts do not look into.
    private static func other(_ value: Any) -> QueryValue {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return .object(value as AnyObject) }
        return mirror.children.first.map { QueryValue($0.value) } ?? .missing
    }

    /// The value as a type of attribute; nil if it cannot be converted.
    ///
    /// Apple's keychain accepts text, data and numbers for texts and for most data, and text for numbers.
    func value(as kind: KeychainAttribute.Kind) -> KeychainValue? {
        switch (self, kind) {
        case (.text(let text), .text):
            return text.utf8.contains(0) ? nil : .text(text)
        case (.data(let bytes), .text):
            return String(validating: bytes, as: UTF8.self).flatMap { QueryValue.text($0).value(as: .text) }
        case (.text(let text), .code), (.text(let text), .textOrData), (.text(let text), .dataOrText):
            return .text(text)
        case (.number(let number), .text), (.number(let number), .textOrData), (.number(let number), .code):
            return .text(String(number))
        case (.number(let number), .dataOrText):
            return .data(Array(String(number).utf8))
        case (.data(let bytes), .data), (.data(let bytes), .textOrData), (.data(let bytes), .dataOrText):
            return .data(bytes)
        case (.number(let number), .number):
            return .number(number)
        case (.number(let number), .boolean):
            return .boolean(number != 0)
        case (.text(let text), .number):
            return QueryValue.number(text).map(KeychainValue.number)
        default:
            return nil
        }
    }

    /// The value as a Boolean; nil if it is not one.
    var flag: Bool? {
        guard case .number(let number) = self else { return nil }
        return number != 0
    }

    /// A number in decimal, or the four characters of a creator or type.
    private static func number(_ text: String) -> Int64? {
        if let number = Int64(text), String(number) == text { return number }
        let bytes = Array(text.utf8)
        guard bytes.count == 4 else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
