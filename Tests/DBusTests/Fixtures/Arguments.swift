import DBus

/// Writes values to a message and reads them from it, without a bus.
enum Arguments {
    /// What is read after the value has been written.
    static func roundTrip<Value: BusValue>(_ value: Value) throws(BusError) -> Value {
        try message(value).read(Value.self)
    }

    /// A message with these arguments.
    static func message<each Value: BusValue>(_ values: repeat each Value) -> Message {
        let message = Message.signal(.root, "org.example.Test", "Arguments")
        message.append(repeat each values)
        return message
    }
}
