import Glibc
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

/// Messages beside the result of a command.
enum Terminal {
    /// Writes a line to standard error.
    static func tell(_ line: Text) {
        put("\(line.localized)\n")
    }

    static func tell(_ phrase: Phrase) { tell(Text(phrase)) }

    /// Writes a line to standard output.
    static func say(_ line: Text) {
        print(line.localized)
    }

    static func say(_ phrase: Phrase) { say(Text(phrase)) }

    /// Shows progress, if standard error is a terminal; an empty text removes it.
    static func progress(_ text: Text) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        put("\r\(text.localized)\u{1B}[K")
    }

    /// Asks for a word at the terminal; nil if there is no terminal.
    ///
    /// Throws ``ExitStatus/cancelled`` at a signal.
    static func ask(_ question: Text, _ interruption: Interruption) throws(CommandFailure) -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        let text = Array(question.localized.utf8)
        _ = write(terminal, text, text.count)
        try interruption.waitForInput(terminal)
        var answer = [UInt8](repeating: 0, count: 256)
        let count = read(terminal, &answer, answer.count)
        let line = answer.prefix(max(0, count)).prefix { byte in byte != UInt8(ascii: "\n") }
        return String(decoding: line, as: UTF8.self)
    }

    private static func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}

extension CommandFailure {
    init(_ error: SecretServiceError) {
        let status: ExitStatus =
            switch error.code {
            case .busUnavailable, .providerUnavailable, .providerGone, .disconnected, .timedOut: .noProvider
            case .dismissed, .cancelled: .cancelled
            case .locked, .interactionNotAllowed: .locked
            case .accessDenied, .notSupported: .refused
            case .noSuchObject: .notFound
            default: .failure
            }
        switch (error.code, error.authenticationErrorName) {
        case (_, "AuthenticationFailed"):
            self.init(.wrongPassword, Text("the password or the touch was wrong"))
        case (_, "BiometryLockout"):
            self.init(.refused, Text("the fingerprint reader is locked; the password of your login frees it"))
        case (_, "NotInteractive"), (_, "PasscodeNotSet"):
            self.init(.cancelled, Text("nobody could be asked: no dialog can be shown here"))
        case (_, "BiometryNotAvailable"), (_, "BiometryNotEnrolled"), (_, "BiometryDisconnected"):
            self.init(.refused, Text("only a finger opens it, and no fingerprint reader can be used"))
        case (.providerUnavailable, _) where error.errorName == "org.freedesktop.DBus.Error.ServiceUnknown":
            self.init(
                .noProvider,
                Text("no provider runs, and the bus has none to start; “keychainctl switch status” says more")
            )
        case (.busUnavailable, _) where error.errorName != nil:
            self.init(.noProvider, Text("the session bus cannot be reached: \(error.reason.visible)"))
        case (.providerGone, _):
            self.init(.noProvider, Text("the provider left the bus"))
        case (.disconnected, _):
            self.init(.noProvider, Text("the connection to the bus is closed"))
        case (.cancelled, _):
            self.init(.cancelled, Text("interrupted"))
        case (.dismissed, _):
            // The Secret Service tells no difference (spec #127).
            self.init(.cancelled, Text("the dialog was dismissed, or none could be shown"))
        case (.interactionNotAllowed, _), (.locked, _):
            self.init(.locked, Text("it is locked"))
        default:
            self.init(status, Text(verbatim: error.reason.visible))
        }
    }
}

extension SecureBytes {
    /// Asks for a new password twice, or reads a descriptor.
    ///
    /// - Parameter descriptor: nil to ask at the terminal.
    static func newPassword(
        for purpose: Text,
        from descriptor: Int32?,
        _ interruption: Interruption
    ) throws(CommandFailure) -> SecureBytes {
        if let descriptor { return try newPassword(from: descriptor, interruption) }
        let first = try asked(Text("Password for \(purpose): "), interruption)
        guard !first.isEmpty else { throw CommandFailure(.refused, "the password is empty") }
        let second = try asked(Text("Repeat the password: "), interruption)
        guard first.isEqual(to: second) else { throw CommandFailure(.wrongPassword, "the two passwords differ") }
        return first
    }

    /// Reads a new password from a descriptor.
    ///
    /// Throws ``ExitStatus/refused`` if it is empty: some providers would not encrypt anything with it.
    static func newPassword(
        from descriptor: Int32,
        _ interruption: Interruption
    ) throws(CommandFailure) -> SecureBytes {
        let password = try PasswordInput.read(from: descriptor, interruption: interruption.descriptor)
        guard !password.isEmpty else { throw CommandFailure(.refused, "the password is empty") }
        return password
    }

    /// Asks for a password, or reads a descriptor.
    static func password(
        for purpose: Text,
        from descriptor: Int32?,
        _ interruption: Interruption
    ) throws(CommandFailure) -> SecureBytes {
        if let descriptor {
            return try PasswordInput.read(from: descriptor, interruption: interruption.descriptor)
        }
        return try asked(Text("Password for \(purpose): "), interruption)
    }

    private static func asked(_ question: Text, _ interruption: Interruption) throws(CommandFailure) -> SecureBytes {
        guard let password = try PasswordInput.ask(question, interruption: interruption.descriptor) else {
            throw CommandFailure(.refused, "there is no terminal to ask for a password; use --password-fd")
        }
        return password
    }
}
