import Foundation

/// What the kernel tells about a process.
struct ProcessStatus {
    private let folder: String

    init(of id: Int32) {
        self.init(at: "/proc/\(id)")
    }

    /// - Parameter folder: of a process or of one of its threads.
    init(at folder: String) {
        self.folder = folder
    }

    /// A line of `/proc/PID/status`, without its name.
    func field(_ name: String) throws -> String? {
        try text("status").split(separator: "\n").first { $0.hasPrefix("\(name):") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    /// The largest core file, as `/proc/PID/limits` has it: soft limit, then hard limit.
    func coreLimits() throws -> [Substring] {
        let line = try text("limits").split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
        return Array(line.dropFirst("Max core file size".count).split(separator: " ").prefix(2))
    }

    /// The owner of the process's files, who is root if the process cannot be dumped.
    func owner() throws -> UInt32? {
        try FileManager.default.attributesOfItem(atPath: "\(folder)/environ")[.ownerAccountID] as? UInt32
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
}
