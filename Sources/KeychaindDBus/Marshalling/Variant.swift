/// A value of a type known only at run time; where one type is expected, use ``Reader/readVariant(of:)``.
package enum Variant: BusValue, Hashable, Sendable {
    case boolean(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case uint64(UInt64)
    case string(String)
    case objectPath(ObjectPath)
    case bytes(ByteArray)
    case objectPaths([ObjectPath])
    case strings([String])
    case stringDictionary([String: String])
    indirect case variant(Variant)
    /// An unsupported type; it cannot be sent.
    case other(signature: String)

    package static var signature: String { "v" }

    package init(from reader: inout Reader) throws(BusError) {
        self = try reader.readVariant { (reader) throws(BusError) in
            switch reader.nextSignature {
            case Bool.signature: .boolean(try Bool(from: &reader))
            case Int32.signature: .int32(try Int32(from: &reader))
            case UInt32.signature: .uint32(try UInt32(from: &reader))
            case UInt64.signature: .uint64(try UInt64(from: &reader))
            case String.signature: .string(try String(from: &reader))
            case ObjectPath.signature: .objectPath(try ObjectPath(from: &reader))
            case ByteArray.signature: .bytes(try ByteArray(from: &reader))
            case [ObjectPath].signature: .objectPaths(try [ObjectPath](from: &reader))
            case [String].signature: .strings(try [String](from: &reader))
            case [String: String].signature: .stringDictionary(try [String: String](from: &reader))
            case Variant.signature: .variant(try Variant(from: &reader))
            case let signature: .other(signature: signature)
            }
        }
    }

    package func write(to writer: inout Writer) {
        switch self {
        case .boolean(let value): Variant.write(value, to: &writer)
        case .int32(let value): Variant.write(value, to: &writer)
        case .uint32(let value): Variant.write(value, to: &writer)
        case .uint64(let value): Variant.write(value, to: &writer)
        case .string(let value): Variant.write(value, to: &writer)
        case .objectPath(let value): Variant.write(value, to: &writer)
        case .bytes(let value): Variant.write(value, to: &writer)
        case .objectPaths(let value): Variant.write(value, to: &writer)
        case .strings(let value): Variant.write(value, to: &writer)
        case .stringDictionary(let value): Variant.write(value, to: &writer)
        case .variant(let value): Variant.write(value, to: &writer)
        case .other(let signature): preconditionFailure("a value of type '\(signature)' cannot be sent")
        }
    }

    package static func write(_ value: some WritableValue, to writer: inout Writer) {
        writer.writeVariant(type(of: value).signature) { value.write(to: &$0) }
    }
}
