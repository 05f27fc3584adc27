import CDBus

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
