import CKeychaindLinux
import Glibc
import KeychaindDBus
import KeychaindRights

/// A connection to a display, and the process that listens there.
///
/// The kernel keeps the process of listen(2) for the socket, so no other one can be in its place later.
struct DisplaySocket: Sendable {
    let descriptor: FileDescriptor
    let processID: Int32
    /// Negative if unknown.
    let userID: Int64

    /// Connects without waiting, with the user's rights; nil if nothing listens there, or cannot take it at once.
    init?(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_UNIX, kind, 0)
        guard socket >= 0 else { return nil }
        descriptor = FileDescriptor(owning: socket)
        let isConnected = UserRights.perform {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
        }
        processID = keychaind_peer_process(socket)
        userID = keychaind_peer_user(socket)
        guard isConnected, processID > 0 else { return nil }
    }
}
