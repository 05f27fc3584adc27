/// What an interpreter's command line says that it runs; a process may overwrite it at any time.
enum ScriptClaim {
    /// Finds the first argument that is no option, in `/proc/PID/cmdline`.
    ///
    /// Nil if there is none, or if the program itself is on the command line. After an option with a value this may be the value:
    /// it is only a claim.
    ///
    /// - Parameter isLoader: whether the interpreter is the dynamic loader, whose options are other ones.
    static func find(in commandLine: [UInt8], isLoader: Bool = false) -> String? {
        var arguments = commandLine.split(separator: 0, omittingEmptySubsequences: false).dropFirst()
            .map { String(decoding: $0, as: UTF8.self) }[...]
        while let argument = arguments.popFirst() {
            switch argument {
            case _ where isLoader && loaderOptions.contains(argument): _ = arguments.popFirst()
            case "-c", "-e", "--eval", "--command", "": return nil
            case "-m": return arguments.first.flatMap { $0.isEmpty ? nil : "module \($0)" }
            case _ where argument.hasPrefix("-"): continue
            default: return argument
            }
        }
        return nil
    }

    /// The options of the dynamic loader that take a value (ld.so(8)).
    private static let loaderOptions: Set<String> = [
        "--argv0", "--audit", "--glibc-hwcaps-mask", "--glibc-hwcaps-prepend", "--inhibit-rpath", "--library-path",
        "--preload",
    ]

    /// How much of a command line is read, in bytes.
    static let longest = 4096
}
