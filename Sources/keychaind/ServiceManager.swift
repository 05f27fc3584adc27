import CLinux
import Glibc

/// Tells systemd how the service is doing: a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
enum ServiceManager {
    /// Says that calls are answered from now on.
    static func notifyReady() {
        send("READY=1")
    }

    /// Says that the service is about to end.
    static func notifyStopping() {
        send("STOPPING=1")
    }

    private static func send(_ state: String) {
        guard let name = getenv("NOTIFY_SOCKET").map({ Array(String(cString: $0).utf8) }), name.count > 1 else {
            return
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard name.count <= MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: name)
            // An @ in front stands for the NUL of an abstract address.
            if name[0] == UInt8(ascii: "@") { path[0] = 0 }
        }
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let state = Array(state.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(socket, state, state.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}
