import CKeychaindLinux
import Glibc
import KeychaindRights

/// The environment of a set-gid process: variables kept by `CKeychaindDomain`, and the user database.
enum DomainEnvironment {
    /// The search path for programs.
    static let path = "/usr/local/bin:/usr/bin:/bin"

    /// Sets the variables that a caller must not choose, before other threads can read them.
    static func complete() {
        setenv("PATH", path, 1)
        if let user = getpwuid(getuid()) {
            setenv("HOME", user.pointee.pw_dir, 1)
            setenv("USER", user.pointee.pw_name, 1)
            setenv("LOGNAME", user.pointee.pw_name, 1)
        }
        if let folder = getenv("XDG_RUNTIME_DIR"), !isOwn(String(cString: folder)) { unsetenv("XDG_RUNTIME_DIR") }
    }

    /// Whether only this user can reach a folder.
    static func isOwn(_ path: String) -> Bool {
        guard path.hasPrefix("/") else { return false }
        return UserRights.perform {
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
                && status.st_mode & 0o077 == 0
        }
    }
}
