import Glibc

/// The environment of this process, which nothing in it changes once it has been started.
enum ProcessEnvironment {
    /// All variables whose names and values are UTF-8.
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
