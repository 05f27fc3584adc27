package import DBus
package import Desktop
import Glibc
import Rights

/// Asks on the terminal of the caller, by a pinentry without windows: over ssh, and on the console.
@BusActor
package final class TerminalPrompter: Prompter {
    /// Those that are looked for: the one that the administrator has chosen falls back on a terminal if it can.
    package nonisolated static let programs = ["pinentry", "pinentry-curses", "pinentry-tty"]

    /// What it is called in logs.
    package let name = "tty"

    private let launcher: PinentryLauncher
    private let programs: [String]
    private let variables: [String: String]
    private let finder: TerminalFinder

    /// Creates a prompter.
    ///
    /// - Parameters:
    ///   - programs: paths, or names to look up in `PATH`; the first that asks on terminals is used.
    ///   - environment: the environment of this process.
    package init(
        launcher: PinentryLauncher,
        programs: [String] = TerminalPrompter.programs,
        environment: [String: String],
        finder: TerminalFinder = TerminalFinder()
    ) {
        self.launcher = launcher
        self.programs = programs
        variables = environment
        self.finder = finder
    }

    /// Whether the caller has a terminal, and there is a pinentry; which flavour it is shows when it is started.
    package func isAvailable(for requester: any Requester) async -> Bool {
        guard programs.contains(where: { ProgramSearch.finds($0, in: variables["PATH"]) }) else { return false }
        return await requester.caller().process.flatMap(finder.terminal) != nil
    }

    /// Starts a pinentry on the caller's terminal; throws ``PromptError/Code/unavailable`` if there is no such
    /// terminal.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        guard let process = await requester.caller().process, let terminal = finder.terminal(of: process) else {
            throw PromptError(.unavailable, reason: "the caller has no terminal on which it can be asked")
        }
        guard let settings = TerminalSettings(of: terminal.path) else {
            throw PromptError(.unavailable, reason: "\(terminal.path) cannot be opened")
        }
        var failure = PromptError(.unavailable, reason: "there is no pinentry that asks on terminals")
        for program in programs {
            do throws(PromptError) {
                return try await launcher.launch(program, on: .terminal(terminal, variables)) { [finder] bySignal in
                    guard bySignal else { return }
                    // If the caller has gone, its shell has the terminal, and has set it as it needs it; or will have.
                    if finder.isInForeground(process) || settings.onlyEchoDiffers { settings.restore() }
                }
            } catch {
                failure = error
            }
        }
        throw failure
    }
}

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
