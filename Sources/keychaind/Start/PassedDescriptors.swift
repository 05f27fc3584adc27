import Glibc

/// The descriptors passed by the service manager (sd_listen_fds(3)): sockets, and those stored by an earlier process.
struct PassedDescriptors: Equatable, Sendable {
    /// A descriptor and its name, set by the unit or by the service.
    struct Entry: Equatable, Sendable {
        var name: String
        var descriptor: Int32
    }

    let entries: [Entry]

    /// The maximum number of entries; further descriptors are ignored.
    private static let limit = 64

    private static let first: Int32 = 3
    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"]

    /// Reads the `LISTEN_` variables, unless they are for another process, and ignores closed descriptors.
    init(environment: [String: String], process: pid_t) {
        guard environment["LISTEN_PID"].flatMap({ Int($0) }) == Int(process),
            let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count > 0
        else {
            entries = []
            return
        }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        entries = (0..<min(count, Self.limit)).compactMap { index in
            let descriptor = Self.first + Int32(index)
            guard Self.isOpen(descriptor) else { return nil }
            return Entry(name: index < names.count ? String(names[index]) : "unknown", descriptor: descriptor)
        }
    }

    /// Takes the descriptors of this process, before it opens any file, and hides them from child processes.
    static func take() -> PassedDescriptors {
        let passed = PassedDescriptors(environment: ProcessEnvironment.variables, process: getpid())
        for entry in passed.entries { _ = fcntl(entry.descriptor, F_SETFD, FD_CLOEXEC) }
        for variable in variables { unsetenv(variable) }
        return passed
    }

    /// Whether a descriptor is open and not among the entries, so that other code may use it.
    func leaves(_ descriptor: Int32) -> Bool {
        Self.isOpen(descriptor) && !entries.contains { entry in entry.descriptor == descriptor }
    }

    private static func isOpen(_ descriptor: Int32) -> Bool {
        fcntl(descriptor, F_GETFD) >= 0
    }

    func descriptors(named name: String) -> [Int32] {
        entries.filter { entry in entry.name == name }.map(\.descriptor)
    }
}
