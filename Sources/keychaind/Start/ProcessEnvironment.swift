import Glibc

/// The environment of this process, unchanged after the start.
enum ProcessEnvironment {
    /// All variables with UTF-8 names and values.
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let line = next.pointee {
            if let text = String(validatingCString: line), let separator = text.firstIndex(of: "=") {
                variables[String(text[..<separator])] = String(text[text.index(after: separator)...])
            }
            next += 1
        }
        return variables
    }
}
