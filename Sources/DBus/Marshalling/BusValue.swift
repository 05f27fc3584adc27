/// A value that can be an argument: sent, and read from what has arrived.
package protocol BusValue: WritableValue {
    /// Reads the value at the reader, which is then behind it.
    ///
    /// Throws `InvalidArgs` when something else is there.
    init(from reader: inout Reader) throws(BusError)
}
