import CLinux
import Glibc
import Rights

/// Tells systemd how the service is doing: a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
enum ServiceManager {
    /// Whether there is one that listens.
    static var isThere: Bool { address != nil }

    /// Says that calls are answered from now on.
    static func notifyReady() {
        send("READY=1")
    }

    /// Says that the service is about to end.
    static func notifyStopping() {
        send("STOPPING=1")
    }

    /// Has a descriptor kept for the process that comes next, under a name of ours; nobody says whether it is.
    static func keep(_ descriptor: Int32, as name: String) {
        send("FDSTORE=1\nFDNAME=\(name)", with: descriptor)
    }

    /// Has what was kept under a name closed.
    static func forget(_ name: String) {
        send("FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// Waits until what was said before has been heard, for a bounded time.
    ///
    /// Blocks; for the end, after which a manager no longer knows whose message it is.
    static func waitUntilHeard() {
        var ends: [Int32] = [-1, -1]
        guard isThere, pipe(&ends) == 0 else { return }
        send("BARRIER=1", with: ends[1])
        close(ends[1])
        // The manager closes the other end when it comes to it.
        var event = pollfd(fd: ends[0], events: 0, revents: 0)
        poll(&event, 1, hearingTime)
        close(ends[0])
    }

    private static let hearingTime: Int32 = 1000

    private static var address: UnixAddress? {
        getenv("NOTIFY_SOCKET").flatMap { UnixAddress(String(cString: $0)) }
    }

    private static func send(_ state: String, with descriptor: Int32? = nil) {
        guard let address else { return }
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let state = Array(state.utf8)
        address.withPointer { pointer, length in
            UserRights.perform {
                if let descriptor {
                    _ = keychaind_send_descriptor(socket, pointer, length, state, state.count, descriptor)
                } else {
                    _ = sendto(socket, state, state.count, Int32(MSG_NOSIGNAL), pointer, length)
                }
            }
        }
    }
}
