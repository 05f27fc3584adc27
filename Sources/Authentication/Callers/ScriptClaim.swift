/// What an interpreter's command line says that it runs; a process may overwrite it at any time.
enum ScriptClaim {
    /// Finds the first argument that is no option, in `/proc/PID/cmdline`.
    ///
    /// Nil if there is none, or if the program itself is on the command line. After an option with a value this may be the value:
    /// it is only a claim.
    static func find(in commandLine: [UInt8]) -> String? {
        var arguments = commandLine.split(separator: 0, omittingEmptySubsequences: false).dropFirst()
            .map { String(decoding: $0, as: UTF8.self) }[...]
        while let argument = arguments.popFirst() {
            switch argument {
            case "-c", "-e", "--eval", "--command", "": return nil
            case "-m": return arguments.first.flatMap { $0.isEmpty ? nil : "module \($0)" }
            case _ where argument.hasPrefix("-"): continue
            default: return argument
            }
        }
        return nil
    }

    /// How much of a command line is read, in bytes.
    static let longest = 4096
}
