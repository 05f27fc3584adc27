import CLinux
import Gcrypt
import Glibc
import Rights

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

/// Where the password is that the daemon is started with.
///
/// Arguments and environment variables never hold a password, since other processes can read them.
enum StartPassword {
    /// The name of the credential that systemd may give it in (systemd.exec(5), "CREDENTIALS").
    static let credential = "keychaind.password"

    /// A descriptor to read it from: the command line's, or that of the credential; nil if there is neither.
    static func descriptor(_ options: Options) -> Int32? {
        if let descriptor = options.passwordDescriptor {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return descriptor
        }
        guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }), folder.hasPrefix("/") else {
            return nil
        }
        let descriptor = UserRights.perform {
            open("\(folder)/\(credential)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        }
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
