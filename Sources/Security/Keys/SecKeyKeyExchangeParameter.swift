#if Keys
public import Foundation

/// A parameter of a key exchange.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    private let name: String

    /// The key in a dictionary.
    public var rawValue: CFString { name as NSString }

    /// A parameter by its key in a dictionary.
    public init(rawValue: CFString) {
        name = rawValue as String
    }

    private init(_ name: String) {
        self.name = name
    }

    /// The size of the secret in bytes.
    public static let requestedSize = SecKeyKeyExchangeParameter("requestedSize")

    /// Additional data for the key derivation.
    public static let sharedInfo = SecKeyKeyExchangeParameter("sharedInfo")
}

/// Its raw value as an object, so that it can be the key of a `CFDictionary`, as on Apple's systems.
extension SecKeyKeyExchangeParameter: _ObjectiveCBridgeable {
    /// The key in a dictionary.
    public func _bridgeToObjectiveC() -> NSString { rawValue }

    /// A parameter by its key in a dictionary.
    public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout SecKeyKeyExchangeParameter?) {
        result = SecKeyKeyExchangeParameter(rawValue: source)
    }

    /// A parameter by its key in a dictionary; never fails.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSString,
        result: inout SecKeyKeyExchangeParameter?
    ) -> Bool {
        result = SecKeyKeyExchangeParameter(rawValue: source)
        return true
    }

    /// A parameter by its key in a dictionary.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> SecKeyKeyExchangeParameter {
        SecKeyKeyExchangeParameter(rawValue: source ?? "")
    }
}

/// The checked parameters of a key exchange.
struct KeyExchangeParameters {
    private(set) var size: Int?
    private(set) var sharedInfo: [UInt8] = []

    /// Others are ignored, as by Apple.
    init(_ parameters: CFDictionary) throws(StatusError) {
        if let value = parameters[SecKeyKeyExchangeParameter.requestedSize.rawValue] {
            guard case .number(let number) = QueryValue(value) else {
                throw StatusError(errSecParam, "requestedSize is not a number")
            }
            size = Int(clamping: number)
        }
        if let value = parameters[SecKeyKeyExchangeParameter.sharedInfo.rawValue] {
            guard case .data(let bytes) = QueryValue(value) else {
                throw StatusError(errSecParam, "sharedInfo is not data")
            }
            sharedInfo = bytes
        }
    }
}
#endif
