/// A line that is sent to an Assuan server, such as `SETPROMPT Password:`.
package struct AssuanCommand: Hashable, Sendable {
    /// How many bytes a line may have, without its end.
    package static let lineLimit = 1000

    /// The line with its end.
    package let bytes: [UInt8]

    /// Creates a command; an argument that is too long for a line is cut.
    package init(_ name: StaticString, _ argument: String? = nil) {
        var line = name.withUTF8Buffer { Array($0) }
        if let argument {
            line.append(UInt8(ascii: " "))
            line += PercentEncoding.encode(argument, limit: AssuanCommand.lineLimit - line.count)
        }
        bytes = line + [UInt8(ascii: "\n")]
    }
}
