import Glibc
import KeychaindDBus
import KeychaindGcrypt

/// An application's secret, and the descriptor that it goes to.
///
/// The application chooses the file behind the descriptor, which may be on a file system that never answers, and can
/// fill a pipe at any moment. A class because a thread that waits for such a file shares the secret.
final class SecretDelivery: Sendable {
    private let secret: SecureBytes
    private let descriptor: FileDescriptor

    init(of secret: consuming SecureBytes, to descriptor: FileDescriptor) {
        self.secret = secret
        self.descriptor = descriptor
    }

    /// Writes the secret if there is room for it, which may block all the same.
    ///
    /// A pipe takes all of it at once.
    func write() -> Bool {
        var event = pollfd(fd: descriptor.rawValue, events: Int16(POLLOUT), revents: 0)
        guard poll(&event, 1, 0) == 1, event.revents & Int16(POLLOUT) != 0 else { return false }
        return secret.withUnsafeBytes { bytes in
            Glibc.write(descriptor.rawValue, bytes.baseAddress, bytes.count) == bytes.count
        }
    }
}
