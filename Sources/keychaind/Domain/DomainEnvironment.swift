import CLinux
import Glibc
import Rights

/// The environment of a set-gid process: what `CDomain` has left of the caller's, completed from the user database.
enum DomainEnvironment {
    /// Where programs are searched for.
    static let path = "/usr/local/bin:/usr/bin:/bin"

    /// Sets what the caller does not decide, while there is no other thread that could read the environment.
    static func complete() {
        setenv("PATH", path, 1)
        if let user = getpwuid(getuid()) {
            setenv("HOME", user.pointee.pw_dir, 1)
            setenv("USER", user.pointee.pw_name, 1)
            setenv("LOGNAME", user.pointee.pw_name, 1)
        }
        if let folder = getenv("XDG_RUNTIME_DIR"), !isOwn(String(cString: folder)) { unsetenv("XDG_RUNTIME_DIR") }
    }

    /// Whether a folder is this user's, and nobody else's.
    static func isOwn(_ path: String) -> Bool {
        guard path.hasPrefix("/") else { return false }
        return UserRights.perform {
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
                && status.st_mode & 0o077 == 0
        }
    }
}
