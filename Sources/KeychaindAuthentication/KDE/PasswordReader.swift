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

    private let descriptor: FileDescriptor
    private var buffer: SecureBytes
    private var count = 0
    private var completion: (@BusActor (PromptError?) -> Void)?

    package init(_ descriptor: FileDescriptor) throws(PromptError) {
        self.descriptor = descriptor
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
    ///
    /// Accepts only pipes and sockets, since other files may block in any mode.
    package func start(_ completion: @escaping @BusActor (PromptError?) -> Void) {
        guard isStream else {
            return completion(PromptError(.failed, reason: "the password descriptor is neither a pipe nor a socket"))
        }
        self.completion = completion
        _ = fcntl(descriptor.rawValue, F_SETFL, O_NONBLOCK)
        BusActor.loop.watchReadable(descriptor.rawValue) { [weak self] in self?.receive() }
    }

    /// Stops reading; the completion is not called.
    package func stop() {
        guard completion != nil else { return }
        completion = nil
        BusActor.loop.unwatch(descriptor.rawValue)
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
                read(descriptor.rawValue, buffer.baseAddress! + start, buffer.count - start)
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

    private var isStream: Bool {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFIFO || status.st_mode & S_IFMT == S_IFSOCK
    }
}
