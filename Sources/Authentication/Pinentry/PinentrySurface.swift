import Desktop

/// Where a pinentry shows its questions, and what it is told of that.
enum PinentrySurface {
    /// In windows, in a session with these variables.
    case windows([String: String])
    /// On a terminal, started by a daemon with these variables.
    case terminal(CallerTerminal, [String: String])

    /// The flavours without windows.
    private static let terminalFlavors: Set<Substring> = ["curses", "dumb", "tty"]

    /// The environment that it is started in.
    var environment: [String: String] {
        switch self {
        case .windows(let variables): PinentryEnvironment.forWindows(from: variables)
        case .terminal(_, let variables): PinentryEnvironment.forTerminal(from: variables)
        }
    }

    /// The options that it is given.
    ///
    /// Never `allow-external-password-cache`: with it a pinentry looks passwords up in, and puts them into, the Secret Service, which
    /// is who asks.
    var options: [AssuanCommand] {
        switch self {
        case .windows(let variables):
            PinentryEnvironment.localeOptions(from: variables)
        case .terminal(let terminal, _):
            [
                AssuanCommand("OPTION", "ttyname=\(terminal.path)"),
                AssuanCommand("OPTION", "ttytype=\(terminal.type)"),
            ] + PinentryEnvironment.localeOptions(from: terminal.locale)
        }
    }

    /// Why answers that need no knowledge do not count there; nil if they may.
    func objection(toFlavor flavor: String) -> String? {
        switch self {
        case .windows where flavor.hasPrefix("gnome3"):
            "pinentry-gnome3 has another program of the session show its dialogs"
        case .windows: nil
        case .terminal: "the program that asks may answer on its own terminal"
        }
    }

    /// Whether a pinentry can ask there, by its flavour as `GETINFO flavor` tells it: what comes after a colon is what it has fallen
    /// back on, such as `gtk2:curses` without a display.
    func suits(flavor: String) -> Bool {
        guard let used = flavor.split(separator: ":").last else { return false }
        let asksOnTerminal = PinentrySurface.terminalFlavors.contains(used)
        switch self {
        case .windows: return !asksOnTerminal
        case .terminal: return asksOnTerminal
        }
    }
}
