import Glibc
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage

/// Standard output with a buffer that is overwritten once it is written.
///
/// A closed pipe ends the process by SIGPIPE, as other commands end; Ctrl-C also ends a write to a full pipe.
///
/// `@unchecked Sendable`: one task at a time writes.
final class Output: @unchecked Sendable {
    private var buffer: [UInt8] = []
    private let interruption: Int32

    /// The size up to which lines are gathered.
    private static let limit = 1 << 16
    /// `PIPE_BUF`: so much fits into a pipe that poll(2) reports as writable.
    private static let portion = 4096

    init(_ interruption: Interruption) {
        self.interruption = interruption.descriptor
    }

    deinit {
        buffer.withUnsafeMutableBytes { wipe($0) }
    }

    func line(_ text: Text) throws(CommandFailure) {
        try line(text.localized)
    }

    /// Appends a line without words for people.
    func line(_ text: String) throws(CommandFailure) {
        buffer.append(contentsOf: text.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Output.limit { try flush() }
    }

    func text(_ text: String) throws(CommandFailure) {
        buffer.append(contentsOf: text.utf8)
    }

    /// Appends a secret, or what contains one.
    func secret(_ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
        try flush()
        try write(bytes)
    }

    /// Writes the gathered lines.
    func flush() throws(CommandFailure) {
        defer {
            buffer.withUnsafeMutableBytes { wipe($0) }
            buffer.removeAll(keepingCapacity: true)
        }
        try buffer.span.withUnsafeBytes { (bytes) throws(CommandFailure) in try write(bytes) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            try waitUntilWritable()
            let portion = UnsafeRawBufferPointer(rebasing: rest.prefix(Output.portion))
            let count = Glibc.write(STDOUT_FILENO, portion.baseAddress, portion.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw Output.failure(errno) }
            rest = rest.dropFirst(count)
        }
    }

    private func waitUntilWritable() throws(CommandFailure) {
        guard Interruption.isReady(STDOUT_FILENO, for: POLLOUT, unless: interruption) else {
            throw CommandFailure(.cancelled, "interrupted")
        }
    }

    /// Writes what `print` has left in a buffer of the C library.
    static func finishPrinting() throws(CommandFailure) {
        guard fflush(nil) == 0 else { throw failure(errno) }
    }

    private static func failure(_ problem: Int32) -> CommandFailure {
        if problem == EPIPE { endLikeOthers() }
        let reason = String(cString: strerror(problem))
        return CommandFailure(.inputOutput, "standard output cannot be written: \(reason)")
    }

    /// Ends as a program that has not ignored SIGPIPE.
    private static func endLikeOthers() {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
    }
}
