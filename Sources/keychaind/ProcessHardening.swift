import CLinux
import Glibc

/// What the process gives up before it touches a secret.
enum ProcessHardening {
    /// Keeps the process's memory from core files, from debuggers of the same user, and from what it might start; and its files
    /// from everybody else.
    static func apply() {
        _ = keychaind_set_undumpable()
        _ = keychaind_set_no_new_privileges()
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        umask(0o077)
        // Two threads do nearly all the work; more arenas would only keep more freed memory.
        mallopt(M_ARENA_MAX, 1)
        // What is freed is overwritten, in every library of the process: libdbus copies messages in which secrets are.
        mallopt(M_PERTURB, 0x5a)
    }
}
