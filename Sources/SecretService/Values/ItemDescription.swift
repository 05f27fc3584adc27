import DBus
import KeychainModel

/// The properties that a new item is to have (#93).
struct ItemDescription {
    private(set) var label = ""
    private(set) var attributes = Attributes()

    /// Reads an `a{sv}` with full property names.
    ///
    /// What is not known is passed over (#51); a wrong type is `InvalidArgs` (#45).
    init(from reader: inout Reader) throws(BusError) {
        var type: String?
        try reader.readDictionary(limit: ServiceLimits.propertiesPerCall) { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case InterfaceName.item + ".Label":
                label = try reader.readVariant(of: String.self)
            case InterfaceName.item + ".Attributes":
                attributes = try reader.readVariant(of: Attributes.self)
            case InterfaceName.item + ".Type":
                type = try reader.readVariant(of: String.self)
            default:
                reader.skip()
            }
        }
        // The type of version 0.1 is the schema of today; who names a schema has the last word.
        if let type, attributes[Attributes.schema] == nil {
            attributes = attributes.with(type: type)
        }
    }
}
