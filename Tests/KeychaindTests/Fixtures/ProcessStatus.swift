import Foundation

/// The kernel's data about a process.
struct ProcessStatus {
    private let folder: String

    init(of id: Int32) {
        self.init(at: "/proc/\(id)")
    }

    /// - Parameter folder: the `/proc` folder of a process or a thread.
    init(at folder: String) {
        self.folder = folder
    }

    /// Returns the value of a line in `/proc/PID/status`.
    func field(_ name: String) throws -> String? {
        try text("status").split(separator: "\n").first { $0.hasPrefix("\(name):") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    /// The limit of core files in `/proc/PID/limits`: soft limit, then hard limit.
    func coreLimits() throws -> [Substring] {
        let line = try text("limits").split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
        return Array(line.dropFirst("Max core file size".count).split(separator: " ").prefix(2))
    }

    /// The owner of the process's `/proc` files, which is root if the process is not dumpable.
    func owner() throws -> UInt32? {
        try FileManager.default.attributesOfItem(atPath: "\(folder)/environ")[.ownerAccountID] as? UInt32
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
}
