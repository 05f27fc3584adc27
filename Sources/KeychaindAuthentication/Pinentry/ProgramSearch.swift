import Glibc

/// Looks for programs.
enum ProgramSearch {
    /// The paths of a program, given as a path or as a name in `PATH`, in its order.
    static func find(_ program: String, in path: String?) -> [String] {
        if program.utf8.contains(UInt8(ascii: "/")) { return isExecutable(program) ? [program] : [] }
        return (path ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(program)" }.filter(isExecutable)
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
