import Glibc
package import KeychaindDBus
package import KeychaindGcrypt

/// Reads a password from a descriptor to its end, without blocking.
///
/// A final newline is part of the password.
@BusActor
package final class PasswordReader {
    /// The limit in bytes.
    package nonisolated static let limit = 4096

    private let input: PasswordSource
    private var buffer: SecureBytes
    private var count = 0
    private var completion: (@BusActor (PromptError?) -> Void)?

    /// Throws ``PromptError/Code/failed`` unless the descriptor is a pipe or a socket.
    package init(_ descriptor: FileDescriptor) throws(PromptError) {
        input = try PasswordSource(descriptor)
        do throws(GcryptError) {
            buffer = try SecureBytes(count: PasswordReader.limit + 1, in: .locked)
        } catch {
            throw PromptError(.failed, reason: "cannot allocate secure memory for a password: \(error.reason)")
        }
    }

    isolated deinit {
        stop()
    }

    /// Starts reading; calls the completion once, with nil at the end of input.
    package func start(_ completion: @escaping @BusActor (PromptError?) -> Void) {
        self.completion = completion
        BusActor.loop.watchReadable(input.descriptor.rawValue) { [weak self] in self?.receive() }
    }

    /// Stops reading; the completion is not called.
    package func stop() {
        guard completion != nil else { return }
        completion = nil
        BusActor.loop.unwatch(input.descriptor.rawValue)
    }

    /// The password; throws ``PromptError/Code/failed`` if it is not UTF-8.
    package func takePassword() throws(PromptError) -> SecureBytes {
        let password: SecureBytes
        do throws(GcryptError) {
            password = try buffer.withUnsafeBytes { (bytes) throws(GcryptError) in
                try SecureBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<count]), in: .locked)
            }
        } catch {
            throw PromptError(.failed, reason: "cannot allocate secure memory for a password: \(error.reason)")
        }
        guard password.withUnsafeBytes({ PasswordReader.isUTF8($0) }) else {
            throw PromptError(.failed, reason: "the password is not UTF-8")
        }
        return password
    }

    private func receive() {
        while true {
            let start = count
            let result = buffer.withUnsafeMutableBytes { buffer in
                input.read(into: buffer.baseAddress! + start, buffer.count - start)
            }
            switch result {
            case 1...:
                count += result
                guard count <= PasswordReader.limit else {
                    return end(
                        PromptError(.failed, reason: "the password is longer than \(PasswordReader.limit) bytes")
                    )
                }
            case 0:
                return end(nil)
            default:
                if errno == EINTR { continue }
                guard errno != EAGAIN else { return }
                return end(
                    PromptError(.failed, reason: "the password cannot be read: \(String(cString: strerror(errno)))")
                )
            }
        }
    }

    private func end(_ error: PromptError?) {
        let completion = completion
        stop()
        completion?(error)
    }

    /// Checks the bytes in place; a string would copy the password.
    private nonisolated static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}

/// A pipe or a socket that is read without blocking, whatever the prompter does with its own descriptors of it.
///
/// Other files may block in any mode.
private enum PasswordSource {
    /// Opened again: the prompter shares the flags of what it has sent, and could take `O_NONBLOCK` away.
    case pipe(FileDescriptor)
    case socket(FileDescriptor)

    init(_ descriptor: FileDescriptor) throws(PromptError) {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else { throw PasswordSource.failure() }
        switch status.st_mode & S_IFMT {
        case S_IFIFO:
            let own = open("/proc/self/fd/\(descriptor.rawValue)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard own >= 0 else { throw PasswordSource.failure() }
            self = .pipe(FileDescriptor(owning: own))
        case S_IFSOCK:
            self = .socket(descriptor)
        default:
            throw PromptError(.failed, reason: "the password descriptor is neither a pipe nor a socket")
        }
    }

    private static func failure() -> PromptError {
        PromptError(.failed, reason: "the password cannot be read: \(String(cString: strerror(errno)))")
    }

    var descriptor: FileDescriptor {
        switch self {
        case .pipe(let descriptor), .socket(let descriptor): descriptor
        }
    }

    func read(into start: UnsafeMutableRawPointer, _ count: Int) -> Int {
        switch self {
        case .pipe(let descriptor): Glibc.read(descriptor.rawValue, start, count)
        case .socket(let descriptor): recv(descriptor.rawValue, start, count, Int32(MSG_DONTWAIT))
        }
    }
}
