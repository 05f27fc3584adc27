import Glibc
import Rights

/// How a terminal was set before somebody asked on it.
///
/// `pinentry-tty` turns the echo off, and leaves it so when a signal ends it.
final class TerminalSettings: Sendable {
    private let descriptor: Int32
    private let saved: termios

    /// Keeps the settings of a terminal; nil if it cannot be opened, or is none.
    init?(of path: String) {
        let descriptor = UserRights.perform { open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC) }
        guard descriptor >= 0 else { return nil }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        saved = settings
    }

    deinit {
        close(descriptor)
    }

    /// Sets it as it was.
    func restore() {
        var settings = saved
        tcsetattr(descriptor, TCSANOW, &settings)
    }

    /// Whether it is set as it was but for the echo.
    var onlyEchoDiffers: Bool {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return false }
        let echo = tcflag_t(ECHO | ECHONL)
        return settings.c_lflag != saved.c_lflag && settings.c_lflag & ~echo == saved.c_lflag & ~echo
            && settings.c_iflag == saved.c_iflag && settings.c_oflag == saved.c_oflag
    }
}
