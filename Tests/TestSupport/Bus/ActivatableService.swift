/// A program that the bus starts when somebody calls its name.
package struct ActivatableService: Sendable {
    package let name: String
    /// The program's absolute path and its arguments.
    package let command: [String]

    package init(name: String, command: [String]) {
        self.name = name
        self.command = command
    }

    /// The content of its `.service` file.
    var file: String {
        let words = command.map { "\"\($0)\"" }.joined(separator: " ")
        return "[D-BUS Service]\nName=\(name)\nExec=\(words)\n"
    }
}
