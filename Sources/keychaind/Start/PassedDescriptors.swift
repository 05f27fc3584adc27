import Glibc

/// What a service manager has given along at the start (sd_listen_fds(3)): sockets, and what it has kept for the service.
struct PassedDescriptors: Equatable, Sendable {
    /// A descriptor, under the name that a unit or the service itself gave it.
    struct Entry: Equatable, Sendable {
        var name: String
        var descriptor: Int32
    }

    /// All of them, in order.
    let entries: [Entry]

    /// How many are looked at; a service manager may be told to keep more.
    private static let limit = 64

    private static let first: Int32 = 3
    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"]

    /// Reads the variables in which they are announced; there are none if these are for another process, and none that are not open.
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

    /// Takes what this process was given, before it opens anything itself; what it starts gets nothing of it.
    static func take() -> PassedDescriptors {
        let passed = PassedDescriptors(environment: ProcessEnvironment.variables, process: getpid())
        for entry in passed.entries { _ = fcntl(entry.descriptor, F_SETFD, FD_CLOEXEC) }
        for variable in variables { unsetenv(variable) }
        return passed
    }

    /// Whether a descriptor is open and not one of these, so that somebody else may read and close it.
    func leaves(_ descriptor: Int32) -> Bool {
        Self.isOpen(descriptor) && !entries.contains { entry in entry.descriptor == descriptor }
    }

    private static func isOpen(_ descriptor: Int32) -> Bool {
        fcntl(descriptor, F_GETFD) >= 0
    }

    /// The descriptors of a name.
    func descriptors(named name: String) -> [Int32] {
        entries.filter { entry in entry.name == name }.map(\.descriptor)
    }
}

/// The environment of this process, which nothing in it changes once it has been started.
enum ProcessEnvironment {
    /// All variables whose names and values are UTF-8.
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let line = next.pointee {
            if let text = String(validatingCString: line), let separator = text.firstIndex(of: "=") {
                variables[String(text[..<separator])] = String(text[text.index(after: separator)...])
            }
            next += 1
        }
        return variables
    }
}
