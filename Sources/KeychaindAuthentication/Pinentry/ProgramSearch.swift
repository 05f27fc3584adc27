import Glibc

/// Looks for programs.
enum ProgramSearch {
    /// Whether a program exists, as a path or as a name in `PATH`.
    static func finds(_ program: String, in path: String?) -> Bool {
        if program.utf8.contains(UInt8(ascii: "/")) { return isExecutable(program) }
        return (path ?? "/usr/bin:/bin").split(separator: ":").contains { isExecutable("\($0)/\(program)") }
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
