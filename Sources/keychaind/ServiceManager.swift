import CKeychaindLinux
import Glibc
import KeychaindRights

/// State notifications to systemd, as datagrams to `NOTIFY_SOCKET` (sd_notify(3)).
enum ServiceManager {
    /// Whether a service manager listens.
    static var isThere: Bool { address != nil }

    /// Reports that the service answers calls.
    static func notifyReady() {
        send("READY=1")
    }

    /// Reports that the service is ending.
    static func notifyStopping() {
        send("STOPPING=1")
    }

    /// Stores a descriptor for the next process under a name; systemd reports no result.
    static func keep(_ descriptor: Int32, as name: String) {
        send("FDSTORE=1\nFDNAME=\(name)", with: descriptor)
    }

    /// Removes the descriptors stored under a name.
    static func forget(_ name: String) {
        send("FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// Blocks until earlier notifications are processed, or a second has passed.
    ///
    /// For use before exiting: systemd cannot attribute messages of an ended process.
    static func waitUntilHeard() {
        var ends: [Int32] = [-1, -1]
        guard isThere, pipe(&ends) == 0 else { return }
        send("BARRIER=1", with: ends[1])
        close(ends[1])
        // The manager closes the other end when it processes the barrier.
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
