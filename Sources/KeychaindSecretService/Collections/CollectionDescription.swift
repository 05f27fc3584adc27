import KeychaindDBus

/// Properties of a new collection (#50).
struct CollectionDescription {
    /// Nil if the client gave none (#56).
    private(set) var label: String?

    /// Reads an `a{sv}` with full property names.
    ///
    /// Skips unknown properties (#51); throws `InvalidArgs` for a wrong type (#45).
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
