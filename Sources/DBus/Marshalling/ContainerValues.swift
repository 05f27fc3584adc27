extension Array: WritableValue where Element: WritableValue {
    package static var signature: String { "a" + Element.signature }

    package func write(to writer: inout Writer) {
        writer.writeArray(of: Element.signature) { writer in
            for element in self {
                element.write(to: &writer)
            }
        }
    }
}

extension Array: BusValue where Element: BusValue {
    package init(from reader: inout Reader) throws(BusError) {
        try self.init(from: &reader, limit: .max)
    }

    /// Reads an array of so many elements at most; throws `LimitsExceeded` when there are more, which are not read.
    package init(from reader: inout Reader, limit: Int) throws(BusError) {
        self = []
        try reader.readArray(limit: limit) { (reader) throws(BusError) in
            append(try Element(from: &reader))
        }
    }
}

extension Dictionary: WritableValue where Key: WritableValue, Value: WritableValue {
    package static var signature: String { "a{" + Key.signature + Value.signature + "}" }

    package func write(to writer: inout Writer) {
        writer.writeArray(of: "{" + Key.signature + Value.signature + "}") { writer in
            for (key, value) in self {
                writer.writeEntry { writer in
                    key.write(to: &writer)
                    value.write(to: &writer)
                }
            }
        }
    }
}

extension Dictionary: BusValue where Key: BusValue, Value: BusValue {
    package init(from reader: inout Reader) throws(BusError) {
        self = [:]
        try reader.readDictionary { (reader) throws(BusError) in
            let key = try Key(from: &reader)
            self[key] = try Value(from: &reader)
        }
    }
}
