/// A property of an interface.
package struct Property<Object> {
    let name: String
    let signature: String
    let write: @BusActor (Object, inout Writer) -> Void
    let set: (@BusActor (Object, Message) async throws(BusError) -> Void)?

    /// A property that can be read, and set if there is a setter.
    ///
    /// - Parameter set: is given a value of the right type; throws `InvalidArgs` if it is not a good one.
    package init<Value: BusValue>(
        _ name: String,
        _ type: Value.Type,
        get: @escaping @BusActor (Object) -> Value,
        set: (@BusActor (Object, Value) async throws(BusError) -> Void)? = nil
    ) {
        self.name = name
        signature = Value.signature
        write = { object, writer in
            let value = get(object)
            writer.writeVariant(Value.signature) { value.write(to: &$0) }
        }
        guard let set else {
            self.set = nil
            return
        }
        self.set = { (object, message) throws(BusError) in
            try await set(object, try Property.readNewValue(from: message))
        }
    }

    /// The third argument of `Properties.Set`.
    private static func readNewValue<Value: BusValue>(from message: Message) throws(BusError) -> Value {
        var reader = message.makeReader()
        reader.skip()
        reader.skip()
        return try reader.readVariant(of: Value.self)
    }
}
