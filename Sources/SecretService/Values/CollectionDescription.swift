import DBus

/// The properties that a new collection is to have (#50).
struct CollectionDescription {
    /// Nil if the caller gave none (#56).
    private(set) var label: String?

    /// Reads an `a{sv}` with full property names.
    ///
    /// What is not known is passed over (#51); a wrong type is `InvalidArgs` (#45).
    init(from reader: inout Reader) throws(BusError) {
        try reader.readDictionary(limit: ServiceLimits.propertiesPerCall) { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case InterfaceName.collection + ".Label":
                label = try reader.readVariant(of: String.self)
            default:
                reader.skip()
            }
        }
    }
}
