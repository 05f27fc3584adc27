import CLinux
import DBus
import Glibc

/// The socket at which systemd waits for logins, in the domain: to connect there starts keychaind, and no more.
///
/// The password comes by the socket of the domain, for any program of the user may listen at this one's path.
@BusActor
enum WakeSocket {
    /// How many connections are taken at once.
    private static let limit = 8

    /// Closes every connection that is made, for as long as the process runs.
    static func serve(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        BusActor.loop.watchReadable(descriptor) { closeAll(descriptor) }
        closeAll(descriptor)
    }

    private static func closeAll(_ descriptor: Int32) {
        for _ in 0..<limit {
            let connection = keychaind_accept(descriptor)
            guard connection >= 0 else { return }
            close(connection)
        }
    }
}
