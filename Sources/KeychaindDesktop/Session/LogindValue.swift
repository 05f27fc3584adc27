import KeychaindDBus

/// Values of logind's properties, each read from a reply of `Get`; throws `InvalidArgs` for another type.
enum LogindValue {
    /// The path in a `(so)`: the session in a user's `Display`.
    static func display(in reply: Message) throws(BusError) -> ObjectPath {
        try value(in: reply) { (reader) throws(BusError) in
            try reader.readStructure { (reader) throws(BusError) in
                _ = try String(from: &reader)
                return try ObjectPath(from: &reader)
            }
        }
    }

    /// The number in a `(uo)`: the user in a session's `User`.
    static func user(in reply: Message) throws(BusError) -> UInt32 {
        try value(in: reply) { (reader) throws(BusError) in
            try reader.readStructure { (reader) throws(BusError) in
                let user = try UInt32(from: &reader)
                reader.skip()
                return user
            }
        }
    }

    static func text(in reply: Message) throws(BusError) -> String {
        try value(in: reply) { (reader) throws(BusError) in try String(from: &reader) }
    }

    static func number(in reply: Message) throws(BusError) -> UInt32 {
        try value(in: reply) { (reader) throws(BusError) in try UInt32(from: &reader) }
    }

    static func flag(in reply: Message) throws(BusError) -> Bool {
        try value(in: reply) { (reader) throws(BusError) in try Bool(from: &reader) }
    }

    private static func value<Value>(
        in reply: Message,
        _ read: (inout Reader) throws(BusError) -> Value
    ) throws(BusError) -> Value {
        var reader = reply.makeReader()
        return try reader.readVariant(read)
    }
}
