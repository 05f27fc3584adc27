/// A property of an interface.
package struct Property<Object> {
    let name: String
    let signature: String
    let changes: PropertyChanges
    let write: @BusActor (Object, inout Writer) -> Void
    let set: (@BusActor (Object, Message) async throws(BusError) -> Void)?

    /// A property that can be read.
    package init<Value: WritableValue>(
        _ name: String,
        _ type: Value.Type,
        changes: PropertyChanges = .told,
        get: @escaping @BusActor (Object) -> Value
    ) {
        self.init(name, changes, get: get, set: nil)
    }

    /// A property that can be read and set.
    ///
    /// - Parameter set: is given a value of the right type; throws `InvalidArgs` if it is not a good one.
    package init<Value: BusValue>(
        _ name: String,
        _ type: Value.Type,
        changes: PropertyChanges = .told,
        get: @escaping @BusActor (Object) -> Value,
        set: @escaping @BusActor (Object, Value) async throws(BusError) -> Void
    ) {
        self.init(name, changes, get: get) { (object, message) throws(BusError) in
            try await set(object, try Property.readNewValue(from: message))
        }
    }

    private init<Value: WritableValue>(
        _ name: String,
        _ changes: PropertyChanges,
        get: @escaping @BusActor (Object) -> Value,
        set: (@BusActor (Object, Message) async throws(BusError) -> Void)?
    ) {
        self.name = name
        self.changes = changes
        self.set = set
        signature = Value.signature
        write = { object, writer in
            let value = get(object)
            writer.writeVariant(Value.signature) { value.write(to: &$0) }
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
