/// A value that can be an argument: of one signature, known without a value.
package protocol BusValue {
    /// The D-Bus signature, such as `a{ss}`; one complete type.
    static var signature: String { get }

    /// Reads the value at the reader, which is then behind it.
    ///
    /// Throws `InvalidArgs` when something else is there.
    init(from reader: inout Reader) throws(BusError)

    /// Appends the value.
    func write(to writer: inout Writer)
}
