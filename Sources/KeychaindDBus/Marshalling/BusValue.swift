import CKeychaindDBus

package protocol BusValue: WritableValue {
    /// Throws `InvalidArgs` if the next value has another type.
    init(from reader: inout Reader) throws(BusError)
}

/// A value that can be written to a message, of a type with one signature.
package protocol WritableValue {
    /// The D-Bus signature, such as `a{ss}`: a single complete type.
    static var signature: String { get }

    func write(to writer: inout Writer)
}

extension Bool: BusValue {
    package static var signature: String { "b" }

    package init(from reader: inout Reader) throws(BusError) {
        var value: dbus_bool_t = 0
        try reader.readBasic(keychaind_dbus_type_boolean, into: &value)
        self = value != 0
    }

    package func write(to writer: inout Writer) {
        writer.writeBasic(keychaind_dbus_type_boolean, dbus_bool_t(self ? 1 : 0))
    }
}

extension UInt8: BusValue {
    package static var signature: String { "y" }

    package init(from reader: inout Reader) throws(BusError) {
        self = 0
        try reader.readBasic(keychaind_dbus_type_byte, into: &self)
    }

    package func write(to writer: inout Writer) {
        writer.writeBasic(keychaind_dbus_type_byte, self)
    }
}

extension Int32: BusValue {
    package static var signature: String { "i" }

    package init(from reader: inout Reader) throws(BusError) {
        self = 0
        try reader.readBasic(keychaind_dbus_type_int32, into: &self)
    }

    package func write(to writer: inout Writer) {
        writer.writeBasic(keychaind_dbus_type_int32, self)
    }
}

extension UInt32: BusValue {
    package static var signature: String { "u" }

    package init(from reader: inout Reader) throws(BusError) {
        self = 0
        try reader.readBasic(keychaind_dbus_type_uint32, into: &self)
    }

    package func write(to writer: inout Writer) {
        writer.writeBasic(keychaind_dbus_type_uint32, self)
    }
}

extension UInt64: BusValue {
    package static var signature: String { "t" }

    package init(from reader: inout Reader) throws(BusError) {
        self = 0
        try reader.readBasic(keychaind_dbus_type_uint64, into: &self)
    }

    package func write(to writer: inout Writer) {
        writer.writeBasic(keychaind_dbus_type_uint64, self)
    }
}

extension String: BusValue {
    package static var signature: String { "s" }

    package init(from reader: inout Reader) throws(BusError) {
        self = try reader.withString { String(cString: $0) }
    }

    package func write(to writer: inout Writer) {
        withCString { writer.writeString($0) }
    }
}

extension ObjectPath: BusValue {
    package static var signature: String { "o" }

    package init(from reader: inout Reader) throws(BusError) {
        self.init(unchecked: try reader.withObjectPath { String(cString: $0) })
    }

    package func write(to writer: inout Writer) {
        rawValue.withCString { writer.writeObjectPath($0) }
    }
}

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

    /// Throws `LimitsExceeded` if the array has more elements than the limit.
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
        try self.init(entriesOf: &reader)
    }

    private init(entriesOf reader: inout Reader) throws(BusError) {
        self = [:]
        try reader.readDictionary { (reader) throws(BusError) in
            let key = try Key(from: &reader)
            self[key] = try Value(from: &reader)
        }
    }
}

extension [String: String] {
    /// Reads attributes: the compiler specializes this for other modules, which have no more than the generic code.
    package init(from reader: inout Reader) throws(BusError) {
        try self.init(entriesOf: &reader)
    }
}

/// An `ay` without a secret, such as a public key, as one value.
package struct ByteArray: BusValue, Hashable, Sendable {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package static var signature: String { "ay" }

    package init(from reader: inout Reader) throws(BusError) {
        bytes = try reader.withBytes { (buffer) throws(BusError) in [UInt8](buffer) }
    }

    package func write(to writer: inout Writer) {
        bytes.withUnsafeBytes { writer.writeBytes($0) }
    }
}
