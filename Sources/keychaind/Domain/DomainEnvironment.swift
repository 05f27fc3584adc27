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

/// The limits of resources, which whoever starts a set-gid process has chosen.
enum ProcessLimits {
    private struct Need {
        var resource: __rlimit_resource
        var minimum: rlim_t
        var name: String
    }

    /// What is needed to work at all: below it the process would fail in the middle of something.
    private static let needs = [
        Need(resource: RLIMIT_NOFILE, minimum: 64, name: "open files"),
        Need(resource: RLIMIT_FSIZE, minimum: 64 << 20, name: "the size of files"),
        Need(resource: RLIMIT_AS, minimum: 512 << 20, name: "its address space"),
        Need(resource: RLIMIT_DATA, minimum: 256 << 20, name: "its data"),
    ]

    /// Raises each to what is allowed; throws if that is too little.
    static func raise() throws(Domain.Failure) {
        for need in needs {
            var limit = rlimit()
            let resource = __rlimit_resource_t(need.resource.rawValue)
            getrlimit(resource, &limit)
            limit.rlim_cur = limit.rlim_max
            guard limit.rlim_max >= need.minimum, setrlimit(resource, &limit) == 0 else {
                throw tooLittle(need.name, limit.rlim_max)
            }
        }
        // The stacks of threads have been sized by it already.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit)
        guard limit.rlim_cur >= 1 << 20 else { throw tooLittle("its stack", limit.rlim_cur) }
    }

    private static func tooLittle(_ name: String, _ value: rlim_t) -> Domain.Failure {
        Domain.Failure(reason: "it was started with too low a limit for \(name): \(value)")
    }
}
