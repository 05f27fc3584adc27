/// The declaration of an interface, from which dispatch, argument checks, properties and introspection derive.
package struct Interface<Object> {
    package let name: String
    let methods: [Method<Object>]
    let properties: [Property<Object>]
    let signals: [SignalDeclaration]

    package init(
        _ name: String,
        methods: [Method<Object>] = [],
        properties: [Property<Object>] = [],
        signals: [SignalDeclaration] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }
}

package struct Method<Object> {
    package typealias ImmediateBody = @BusActor (Object, MethodCall) throws(BusError) -> Void
    package typealias SuspendingBody = @BusActor (Object, MethodCall) async throws(BusError) -> Void
    package typealias DecidingBody = @BusActor (Object, MethodCall) throws(BusError) -> Dispatch

    let name: String
    let inputs: [Parameter]
    let outputs: [Parameter]
    let inputSignature: String
    /// Whether calls with arguments of other types are taken, too.
    let takesOtherTypes: Bool
    let body: DecidingBody

    /// The method replies immediately.
    package init(
        _ name: String,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        takesOtherTypes: Bool = false,
        _ body: @escaping ImmediateBody
    ) {
        let deciding: DecidingBody = { (object, call) throws(BusError) in
            try body(object, call)
            return .answered
        }
        self.init(deciding: name, in: inputs, out: outputs, takesOtherTypes: takesOtherTypes, deciding)
    }

    /// The method may suspend before it replies.
    package init(
        suspending name: String,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        _ body: @escaping SuspendingBody
    ) {
        self.init(deciding: name, in: inputs, out: outputs) { (object, call) throws(BusError) in
            .suspending { () async throws(BusError) in try await body(object, call) }
        }
    }

    /// The method decides at each call whether to suspend.
    package init(
        deciding name: String,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        takesOtherTypes: Bool = false,
        _ body: @escaping DecidingBody
    ) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.takesOtherTypes = takesOtherTypes
        inputSignature = inputs.map(\.signature).joined()
        self.body = body
    }
}

package struct Property<Object> {
    let name: String
    let signature: String
    let changes: PropertyChanges
    let write: @BusActor (Object, inout Writer) -> Void
    let set: (@BusActor (Object, Message) async throws(BusError) -> Void)?

    package init<Value: WritableValue>(
        _ name: String,
        _ type: Value.Type,
        changes: PropertyChanges = .told,
        get: @escaping @BusActor (Object) -> Value
    ) {
        self.init(name, changes, get: get, set: nil)
    }

    /// - Parameter set: sets a value of the right type; throws `InvalidArgs` for an invalid one.
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

    private static func readNewValue<Value: BusValue>(from message: Message) throws(BusError) -> Value {
        var reader = message.makeReader()
        reader.skip()
        reader.skip()
        return try reader.readVariant(of: Value.self)
    }
}

package enum PropertyChanges: String, Sendable {
    /// `PropertiesChanged` is emitted with the new value; the default without an annotation.
    case told = "true"
    case untold = "false"
    /// The value never changes.
    case never = "const"

    static let annotation = "org.freedesktop.DBus.Property.EmitsChangedSignal"
}

package struct SignalDeclaration: Hashable, Sendable {
    let name: String
    let parameters: [Parameter]

    package init(_ name: String, _ parameters: [Parameter] = []) {
        self.name = name
        self.parameters = parameters
    }
}

package struct Parameter: Hashable, Sendable {
    package let name: String
    package let signature: String

    package init<Value: WritableValue>(_ name: String, _ type: Value.Type) {
        self.name = name
        signature = Value.signature
    }

    /// Creates a parameter without a Swift type, such as a secret, which is read and written in parts.
    package init(_ name: String, signature: String) {
        self.name = name
        self.signature = signature
    }
}
