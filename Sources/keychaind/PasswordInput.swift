import Gcrypt
import Glibc

/// A password on standard input or another descriptor.
enum PasswordInput {
    /// The longest password that is taken, in bytes.
    static let limit = 4096

    enum Outcome: ~Copyable, Sendable {
        case password(SecureBytes)
        case failure(String)
    }

    /// Reads to the end of a descriptor; one newline there is not part of the password.
    ///
    /// Blocks for as long as the other side takes.
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

    /// How many bytes there were, at most as many as the buffer holds; nil if reading failed.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int? {
        var count = 0
        while count < buffer.count {
            let result = Glibc.read(descriptor, buffer.baseAddress! + count, buffer.count - count)
            if result == 0 { break }
            if result < 0 {
                if errno == EINTR { continue }
                return nil
            }
            count += result
        }
        return count
    }
}
