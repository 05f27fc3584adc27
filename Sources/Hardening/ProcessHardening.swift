import CLinux
import CWipingHeap
import Glibc

/// What the process gives up before it touches a secret.
package enum ProcessHardening {
    /// Keeps the process's memory from core files, from debuggers of the same user, and from what it might start; and its
    /// files from everybody else.
    package static func apply() {
        _ = keychaind_set_undumpable()
        _ = keychaind_set_no_new_privileges()
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        umask(0o077)
        // Two threads do nearly all the work; more arenas would only keep more freed memory.
        mallopt(M_ARENA_MAX, 1)
        // Every library frees copies of secrets, libdbus above all. glibc's own overwriting, the second best, leaves out blocks
        // of up to 1 KiB and those that grow.
        if !keychaind_wipe_freed_memory() { mallopt(M_PERTURB, 0x5a) }
    }
}
