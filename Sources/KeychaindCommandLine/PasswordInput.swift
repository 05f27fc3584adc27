import Glibc
import KeychaindFiles
package import KeychaindGcrypt
package import KeychaindLanguage

/// A password from the terminal or from a descriptor.
package enum PasswordInput {
    /// The maximum length of a password, in bytes.
    package static let limit = 4096

    /// The length at which a terminal drops the rest of a line, in bytes without the newline.
    private static let terminalLimit = 4095

    /// Whether there is a terminal to ask at.
    package static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    /// Asks at the terminal, without echo; nil if there is no terminal.
    ///
    /// Blocks. Throws ``ExitStatus/cancelled`` at the end of the input, or when `interruption` becomes readable, and
    /// ``ExitStatus/refused`` for a line that the terminal may have cut.
    ///
    /// - Parameters:
    ///   - question: the text before the input; names of others in it are escaped.
    ///   - interruption: a descriptor that ends the wait; nil for none.
    package static func ask(_ question: Text, interruption: Int32? = nil) throws(CommandFailure) -> SecureBytes? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        let text = Array(question.localized.utf8)
        _ = write(terminal, text, text.count)
        let password = try read(from: terminal, isLine: true, interruption: interruption)
        guard let password else { throw CommandFailure(.cancelled, "no password was typed") }
        guard password.count < terminalLimit else {
            throw CommandFailure(.refused, "a terminal cuts a line of this length; pass it by a descriptor")
        }
        return password
    }

    /// Reads a descriptor to its end, without one trailing newline.
    ///
    /// Blocks until the writer closes the other end. Throws ``ExitStatus/cancelled`` when `interruption` becomes
    /// readable before that.
    package static func read(
        from descriptor: Int32,
        interruption: Int32? = nil
    ) throws(CommandFailure) -> SecureBytes {
        if let password = try read(from: descriptor, isLine: false, interruption: interruption) { return password }
        throw CommandFailure(.cancelled, "there is no password on descriptor \(descriptor)")
    }

    /// Reads a line, or to the end; nil if the input ends before the first byte.
    private static func read(
        from descriptor: Int32,
        isLine: Bool,
        interruption: Int32?
    ) throws(CommandFailure) -> SecureBytes? {
        var buffer = try allocate(limit + 1)
        var count = 0
        while count <= limit {
            // Whoever passed the descriptor may have made it non-blocking.
            guard Interruption.isReady(descriptor, for: POLLIN, unless: interruption ?? -1) else {
                throw CommandFailure(.cancelled, "cancelled")
            }
            let offset = count
            let result = buffer.withUnsafeMutableBytes { bytes in
                retryingInterrupted { Glibc.read(descriptor, bytes.baseAddress! + offset, bytes.count - offset) }
            }
            if result < 0, errno == EAGAIN { continue }
            guard result >= 0 else {
                let reason = String(cString: strerror(errno))
                throw CommandFailure(.inputOutput, "the password cannot be read: \(reason)")
            }
            if result == 0 { break }
            count += result
            if isLine, endsWithNewline(buffer, count) { break }
        }
        guard count <= limit else { throw CommandFailure(.failure, "the password is longer than \(limit) bytes") }
        guard count > 0 else { return nil }
        buffer.truncate(to: endsWithNewline(buffer, count) ? count - 1 : count)
        return buffer
    }

    private static func allocate(_ count: Int) throws(CommandFailure) -> SecureBytes {
        do throws(GcryptError) {
            return try SecureBytes(count: count)
        } catch {
            throw CommandFailure(.failure, "there is no memory for a password: \(error.reason)")
        }
    }

    private static func endsWithNewline(_ buffer: borrowing SecureBytes, _ count: Int) -> Bool {
        buffer.withUnsafeBytes { $0[count - 1] == UInt8(ascii: "\n") }
    }
}
