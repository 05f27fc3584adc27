import Glibc
import Logging

/// The limit on open files, which the service manager or the shell sets.
///
/// A message whose descriptors do not fit costs the connection to the bus, and any program may send 253 with each.
enum OpenFileLimit {
    /// Room for the files of a vault, and for two messages with as many descriptors as the kernel passes.
    private static let needed: rlim_t = 1024

    /// Raises a lower limit, as far as the process may.
    static func raise(logger: Logger) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < needed else { return }
        limit.rlim_cur = min(needed, limit.rlim_max)
        guard setrlimit(resource, &limit) == 0, limit.rlim_cur == needed else {
            return logger.warning(
                "Few files may be open: any program can end keychaind by sending it many",
                metadata: ["limit": "\(limit.rlim_max)", "needed": "\(needed)"]
            )
        }
    }
}
