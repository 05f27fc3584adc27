/// The value of an attribute of Apple's, in the form that the attribute has.
package enum KeychainValue: Hashable, Sendable {
    /// Text, without NUL.
    case text(String)

    /// Bytes.
    case data([UInt8])

    /// A whole number.
    case number(Int64)

    /// Yes or no.
    case boolean(Bool)
}
