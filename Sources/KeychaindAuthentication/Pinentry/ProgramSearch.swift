import Glibc

/// Looks for programs.
enum ProgramSearch {
    /// The path of a program, given as a path or as a name in `PATH`; nil without such a program.
    static func find(_ program: String, in path: String?) -> String? {
        if program.utf8.contains(UInt8(ascii: "/")) { return isExecutable(program) ? program : nil }
        return (path ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(program)" }.first(where: isExecutable)
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
