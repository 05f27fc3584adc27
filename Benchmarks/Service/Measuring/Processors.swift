import CKeychaindLinux
import Glibc

/// CPU affinity and scheduling priority of processes.
///
/// By default the kernel keeps client, bus and service on one CPU in one minute and spreads them in the next. Each
/// switch then wakes a sleeping CPU, which takes as long as a whole call, and the ratios would measure that.
enum Processors {
    /// Gives this process and its later children priority over all others; false where that is not allowed.
    static func takePrecedence() -> Bool {
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -20) == 0
    }

    /// Runs processes, with all their threads, on one CPU during the closure.
    static func onOne<Result>(_ processes: [pid_t], _ body: () throws -> Result) rethrows -> Result {
        var all = [UInt64](repeating: 0, count: mostProcessors / 64)
        guard keychaind_get_processors(0, &all, mostProcessors / 8) == 0, let last = last(of: all) else {
            return try body()
        }
        move(processes, to: last)
        defer { move(processes, to: all) }
        return try body()
    }

    private static let mostProcessors = 1024

    private static func move(_ processes: [pid_t], to processors: [UInt64]) {
        for thread in processes.flatMap(threads) {
            _ = keychaind_set_processors(thread, processors, mostProcessors / 8)
        }
    }

    /// Returns the last CPU: the system's own work mostly uses the first.
    private static func last(of processors: [UInt64]) -> [UInt64]? {
        guard let index = processors.lastIndex(where: { $0 != 0 }) else { return nil }
        var last = [UInt64](repeating: 0, count: processors.count)
        last[index] = 1 << (63 - UInt64(processors[index].leadingZeroBitCount))
        return last
    }

    private static func threads(of process: pid_t) -> [pid_t] {
        guard let folder = opendir("/proc/\(process)/task") else { return [] }
        defer { closedir(folder) }
        var threads: [pid_t] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if let thread = pid_t(name) { threads.append(thread) }
        }
        return threads
    }
}
