import CKeychaindLinux
import Glibc
import KeychaindDBus
import KeychaindGcrypt
import KeychaindRights
import KeychaindVault

/// A password on standard input or another descriptor.
enum PasswordInput {
    /// The maximum length of a password, in bytes.
    static let limit = 4096

    enum Outcome: ~Copyable, Sendable {
        case password(SecureBytes)
        case failure(String)

        /// Without memory for a copy, the key is derived later.
        borrowing func supply(_ unlock: EarlyUnlock) {
            switch self {
            case .password(let password): try? unlock.use(password)
            case .failure: break
            }
        }
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

/// The password at the start, never in an argument or variable that other processes could read.
enum StartPassword {
    /// The name of the systemd credential with the password (systemd.exec(5), "CREDENTIALS").
    static let credential = "keychaind.password"

    /// The descriptor from the command line, or of the credential; nil if there is neither.
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

extension StartPassword {
    /// A password that is read while the vault is opened.
    @BusActor
    struct Reading {
        /// Gets the password as soon as it is read.
        let unlock: EarlyUnlock

        private let task: Task<Handoff<PasswordInput.Outcome>, Never>

        /// Reads the descriptor on a thread of its own, and closes it unless it is a standard one.
        init(from descriptor: Int32) {
            let unlock = EarlyUnlock()
            self.unlock = unlock
            // Like a task of `BusActor.start(_:)`, but with a result.
            task = Task.immediate(executorPreference: BusActor.loop) { @BusActor in
                await BlockingThread.run {
                    let outcome = PasswordInput.read(from: descriptor)
                    if descriptor > STDERR_FILENO { close(descriptor) }
                    outcome.supply(unlock)
                    return Handoff(outcome)
                }
            }
        }

        /// Waits for the password; to be called once.
        func outcome() async -> PasswordInput.Outcome {
            await task.value.take() ?? .failure("it was used before")
        }
    }
}
