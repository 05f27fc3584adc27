import Foundation
import KeychaindDBus

/// Connects to Unix sockets.
enum LocalSocket {
    /// Connects to a stream socket; blocks while its queue is full.
    static func connect(to path: String) throws -> FileDescriptor {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let connection = FileDescriptor(owning: socket(AF_UNIX, kind, 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(connection.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return connection
    }

    /// Whether a process listens at the path.
    static func listens(at path: String) -> Bool {
        (try? connect(to: path)) != nil
    }
}
