import CKeychaindLinux
import Glibc
import KeychaindDBus

/// The activation socket in the domain: connecting to it only starts keychaind.
///
/// The password arrives through the domain's socket, since any program can listen at this one's path.
@BusActor
enum WakeSocket {
    /// The maximum number of connections to close at once.
    private static let limit = 8

    /// Accepts and closes every connection, for the lifetime of the process.
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
