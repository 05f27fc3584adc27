/// A named argument of a method or signal.
package struct Parameter: Hashable, Sendable {
    package let name: String
    package let signature: String

    package init<Value: WritableValue>(_ name: String, _ type: Value.Type) {
        self.name = name
        signature = Value.signature
    }

    /// A parameter that is read and written piece by piece rather than as a value, as secrets are.
    package init(_ name: String, signature: String) {
        self.name = name
        self.signature = signature
    }
}
