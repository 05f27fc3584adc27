import Glibc

/// The resource limits, which the starting process chooses even for a set-gid program.
enum ProcessLimits {
    private struct Need {
        var resource: __rlimit_resource
        var minimum: rlim_t
        var name: String
    }

    /// The minimum limits, which prevent failures in the middle of an operation.
    private static let needs = [
        Need(resource: RLIMIT_NOFILE, minimum: 64, name: "open files"),
        Need(resource: RLIMIT_FSIZE, minimum: 64 << 20, name: "the size of files"),
        Need(resource: RLIMIT_AS, minimum: 512 << 20, name: "its address space"),
        Need(resource: RLIMIT_DATA, minimum: 256 << 20, name: "its data"),
    ]

    /// Raises each limit to its maximum; throws if that is below the minimum.
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
        // Only checked: the threads' stacks already have this size.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit)
        guard limit.rlim_cur >= 1 << 20 else { throw tooLittle("its stack", limit.rlim_cur) }
    }

    private static func tooLittle(_ name: String, _ value: rlim_t) -> Domain.Failure {
        Domain.Failure(reason: "it was started with too low a limit for \(name): \(value)")
    }
}
