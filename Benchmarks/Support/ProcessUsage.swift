package import Glibc

/// What a process uses, as `/proc` tells.
package struct ProcessUsage: Sendable {
    private let folder: String

    /// The process with an id.
    package init(of process: pid_t) {
        folder = "/proc/\(process)"
    }

    /// This process.
    package static let own = ProcessUsage(of: getpid())

    /// The resident memory in KiB.
    package var residentKiB: Int? { number(after: "VmRSS:", in: "status") }

    /// The bytes that the process has sent to the disk so far.
    ///
    /// Nil where they may not be read: a process that cannot be dumped, as keychaind, shows them to root alone.
    package var writtenBytes: Int? { number(after: "write_bytes:", in: "io") }

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
