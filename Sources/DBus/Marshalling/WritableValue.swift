/// A value that can be sent: of one signature, known without a value.
package protocol WritableValue {
    /// The D-Bus signature, such as `a{ss}`; one complete type.
    static var signature: String { get }

    /// Appends the value.
    func write(to writer: inout Writer)
}
