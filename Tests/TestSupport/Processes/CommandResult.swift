/// What a command that has run to its end has given.
package struct CommandResult: Sendable {
    package let status: ExitStatus
    package let output: [UInt8]
    package let errors: String

    /// The output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    package var succeeded: Bool { status == .success }
}
