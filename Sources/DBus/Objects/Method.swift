/// A method of an interface: what it takes and gives, and what it does.
package struct Method<Object> {
    package typealias ImmediateBody = @BusActor (Object, MethodCall) throws(BusError) -> Void
    package typealias SuspendingBody = @BusActor (Object, MethodCall) async throws(BusError) -> Void
    package typealias DecidingBody = @BusActor (Object, MethodCall) throws(BusError) -> Dispatch

    let name: String
    let inputs: [Parameter]
    let outputs: [Parameter]
    let inputSignature: String
    let body: DecidingBody

    /// A method that answers at once.
    package init(
        _ name: String,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        _ body: @escaping ImmediateBody
    ) {
        self.init(deciding: name, in: inputs, out: outputs) { (object, call) throws(BusError) in
            try body(object, call)
            return .answered
        }
    }

    /// A method that may have to wait before it answers.
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

    /// A method that mostly answers at once, and knows at the call whether it has to wait.
    package init(
        deciding name: String,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        _ body: @escaping DecidingBody
    ) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        inputSignature = inputs.map(\.signature).joined()
        self.body = body
    }
}
