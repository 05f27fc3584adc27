import CKeychaindLinux
import CKeychaindWipingHeap
import Glibc

/// Restrictions that the process applies to itself before it handles a secret.
package enum ProcessHardening {
    /// Protects the memory of the process from core dumps, debuggers and child processes, and its files from other
    /// users.
    package static func apply() {
        _ = keychaind_set_undumpable()
        _ = keychaind_set_no_new_privileges()
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        umask(0o077)
        // Two threads do nearly all the work; more arenas would only hold more freed memory.
        mallopt(M_ARENA_MAX, 1)
        // Libraries, most of all libdbus, free copies of secrets. The fallback of glibc does not overwrite blocks of up
        // to 1 KiB or reallocated ones.
        if !keychaind_wipe_freed_memory() { mallopt(M_PERTURB, 0x5a) }
    }
}
