import Glibc
package import KeychaindDBus
package import KeychaindDesktop
import KeychaindRights

/// Asks on the caller's terminal with a pinentry without windows.
@BusActor
package final class TerminalPrompter: Prompter {
    /// The programs in order; the administrator's `pinentry` may fall back to a terminal.
    package nonisolated static let programs = ["pinentry", "pinentry-curses", "pinentry-tty"]

    package let name = "tty"

    private let launcher: PinentryLauncher
    private let programs: [String]
    private let variables: [String: String]
    private let finder: TerminalFinder

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

    /// Nil without a terminal of the caller, or a pinentry, whose flavour is unknown until it starts.
    package func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
        guard programs.contains(where: { !ProgramSearch.find($0, in: variables["PATH"]).isEmpty }),
            let terminal = await requester.caller().process.flatMap(finder.terminal)
        else { return nil }
        return launcher.expectedTrust(inProgramAt: "", on: .terminal(terminal, variables))
    }

    /// Throws ``PromptError/Code/unavailable`` without a terminal or a pinentry for it, or if an editor or another
    /// program in raw mode has the terminal, which would get some of the keys.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        guard let process = await requester.caller().process, let terminal = finder.terminal(of: process) else {
            throw PromptError(.unavailable, reason: "the caller has no terminal to ask on")
        }
        // An earlier pinentry of ours has the terminal in raw mode until its end.
        await launcher.waitUntilIdle()
        guard let settings = TerminalSettings(of: terminal.path) else {
            throw PromptError(.unavailable, reason: "cannot open \(terminal.path)")
        }
        guard settings.hasLines else {
            throw PromptError(.unavailable, reason: "a program reads single keys from \(terminal.path)")
        }
        var failure = PromptError(.unavailable, reason: "no pinentry for terminals; install pinentry-curses")
        for program in programs {
            do throws(PromptError) {
                return try await launcher.launch(program, on: .terminal(terminal, variables)) { [finder] bySignal in
                    guard bySignal else { return }
                    // Without the caller, the terminal and its settings belong to the shell.
                    if finder.isInForeground(process) || settings.onlyEchoDiffers { settings.restore() }
                }
            } catch {
                failure = error
            }
        }
        throw failure
    }
}

/// Saved settings of a terminal.
///
/// A signal that ends `pinentry-tty` leaves the echo off.
final class TerminalSettings: Sendable {
    private let descriptor: Int32
    private let saved: termios

    /// Returns nil if the path is not a terminal or cannot be opened.
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

    /// Whether the terminal passes on whole lines, unlike in raw mode.
    var hasLines: Bool { saved.c_lflag & tcflag_t(ICANON) != 0 }

    func restore() {
        var settings = saved
        tcsetattr(descriptor, TCSANOW, &settings)
    }

    var onlyEchoDiffers: Bool {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return false }
        let echo = tcflag_t(ECHO | ECHONL)
        return settings.c_lflag != saved.c_lflag && settings.c_lflag & ~echo == saved.c_lflag & ~echo
            && settings.c_iflag == saved.c_iflag && settings.c_oflag == saved.c_oflag
    }
}
