import CKeychaindLinux
import Glibc

/// The listening path sockets of this network namespace (proc_net(5)).
enum ListeningSockets {
    /// Whether the file at a path is one of them, without connecting to it.
    static func contain(_ path: String) -> Bool {
        guard let file = identity(of: path) else { return false }
        return paths.contains { identity(of: $0) == file }
    }

    private static var paths: [String] {
        guard let list = fopen("/proc/net/unix", "re") else { return [] }
        defer { fclose(list) }
        var paths: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        while getline(&line, &size, list) >= 0 {
            guard let line, let path = path(ofListening: String(cString: line)) else { continue }
            paths.append(path)
        }
        return paths
    }

    /// The path, the last of eight fields, if the flags mark a listening socket.
    static func path(ofListening line: String) -> String? {
        let fields = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
        guard fields.count == 8, fields[3] == "00010000", fields[7].hasPrefix("/") else { return nil }
        return String(fields[7].drop(while: { $0 == " " }).prefix { $0 != "\n" })
    }

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    private static func identity(of path: String) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }
}
