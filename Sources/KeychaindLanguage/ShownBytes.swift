// A pinentry takes the texts of a dialog in lines with a limit in bytes.

extension Unicode.Scalar {
    /// The most bytes that it takes in a command to a prompter.
    ///
    /// A pinentry gets some characters as escapes, such as `%25`, and `<` as a sign of three bytes that begins no tag.
    package var shownBytes: Int {
        switch self {
        case "%", "<", "\u{7F}": 3
        case _ where value < 0x20: 3
        default: UTF8.width(self)
        }
    }
}

extension StringProtocol {
    /// The most bytes that it takes in a command to a prompter.
    package var shownBytes: Int { unicodeScalars.reduce(0) { $0 + $1.shownBytes } }
}
