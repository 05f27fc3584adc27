import CKeychaindLinux
import Glibc
import KeychaindFiles
import KeychaindGcrypt

/// A password on standard input or another descriptor.
enum PasswordDescriptor {
    /// The maximum length of a password, in bytes.
    static let limit = 4096

    enum Outcome: ~Copyable, Sendable {
        case password(SecureBytes)
        case failure(String)
    }

    /// Reads a descriptor to its end, without one trailing newline.
    ///
    /// Blocks until the writer closes the other end.
    static func read(from descriptor: Int32) -> Outcome {
        do throws(GcryptError) {
            var buffer = try SecureBytes(count: limit + 1, in: .locked)
            let count = buffer.withUnsafeMutableBytes { fill($0, from: descriptor) }
            guard let count else {
                return .failure("the password cannot be read: \(String(cString: strerror(errno)))")
            }
            guard count <= limit else { return .failure("the password is longer than \(limit) bytes") }
            return .password(
                try buffer.withUnsafeBytes { (bytes) throws(GcryptError) in
                    let end = count > 0 && bytes[count - 1] == UInt8(ascii: "\n") ? count - 1 : count
                    return try SecureBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<end]), in: .locked)
                }
            )
        } catch {
            return .failure("there is no memory for a password: \(error)")
        }
    }

    /// The number of bytes read, at most the size of the buffer; nil on an error.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int? {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            // Whoever passed the descriptor may have made it non-blocking.
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = retryingInterrupted { poll(&event, 1, -1) }
            let result = retryingInterrupted { Glibc.read(descriptor, rest.baseAddress, rest.count) }
            guard result >= 0 || errno == EAGAIN else { return nil }
            if result == 0 { break }
            count += max(result, 0)
        }
        return count
    }
}
