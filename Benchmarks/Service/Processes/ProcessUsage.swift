import Glibc

/// The resources used by a process, from `/proc`.
struct ProcessUsage: Sendable {
    private let folder: String

    /// Reads the usage of a process.
    init(of process: pid_t) {
        folder = "/proc/\(process)"
    }

    /// The usage of this process.
    static let own = ProcessUsage(of: getpid())

    /// The resident memory in KiB.
    var residentKiB: Int? { number(after: "VmRSS:", in: "status") }

    /// The bytes that the process has written to the disk.
    ///
    /// Nil where they cannot be read: for processes that are not dumpable, such as keychaind, only root can.
    var writtenBytes: Int? { number(after: "write_bytes:", in: "io") }

    /// The time that a processor has spent on the main thread, in user mode and in the kernel.
    var processorTime: Duration? {
        guard let file = fopen(folder + "/schedstat", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, CInt(line.count), file) != nil else { return nil }
        let digits = line.lazy.map(UInt8.init(bitPattern:)).prefix { byte in byte != UInt8(ascii: " ") }
        return Int64(String(decoding: Array(digits), as: UTF8.self)).map { nanoseconds in .nanoseconds(nanoseconds) }
    }

    private func number(after name: String, in file: String) -> Int? {
        guard let file = fopen(folder + "/" + file, "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { byte in byte != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix(name) else { continue }
            return Int(text.dropFirst(name.count).drop { $0.isWhitespace }.prefix { $0.isNumber })
        }
        return nil
    }
}
