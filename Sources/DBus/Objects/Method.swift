/// A method of an interface: what it takes and gives, and what it does.
package struct Method<Object> {
    package typealias ImmediateBody = @BusActor (Object, MethodCall) throws(BusError) -> Void
    package typealias SuspendingBody = @BusActor (Object, MethodCall) async throws(BusError) -> Void

    enum Body {
        case immediate(ImmediateBody)
        case suspending(SuspendingBody)
    }

    let name: String
    let inputs: [Parameter]
    let outputs: [Parameter]
    let inputSignature: String
    let body: Body

    /// A method that answers at once.
    package init(
        _ name: String,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        _ body: @escaping ImmediateBody
    ) {
        self.init(name, inputs, outputs, .immediate(body))
    }

    /// A method that may have to wait before it answers.
    package init(
        suspending name: String,
        in inputs: [Parameter] = [],
        out outputs: [Parameter] = [],
        _ body: @escaping SuspendingBody
    ) {
        self.init(name, inputs, outputs, .suspending(body))
    }

    private init(_ name: String, _ inputs: [Parameter], _ outputs: [Parameter], _ body: Body) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        inputSignature = inputs.map(\.signature).joined()
        self.body = body
    }
}
