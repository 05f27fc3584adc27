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
    /// Never `allow-external-password-cache`: with it a pinentry looks passwords up in, and puts them into, the Secret
    /// Service, which is who asks.
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

    /// Whether a pinentry can ask there, by its flavour as `GETINFO flavor` tells it: what comes after a colon is what
    /// it has fallen back on, such as `gtk2:curses` without a display.
    func suits(flavor: String) -> Bool {
        guard let used = flavor.split(separator: ":").last else { return false }
        let asksOnTerminal = PinentrySurface.terminalFlavors.contains(used)
        switch self {
        case .windows: return !asksOnTerminal
        case .terminal: return asksOnTerminal
        }
    }
}

/// What a pinentry is told of the session.
package enum PinentryEnvironment {
    /// What every program needs, and nothing that has it load code: of this, the daemon's environment may have
    /// anything.
    private static let names: Set<String> = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "USER"]

    /// What a program with a window needs besides.
    private static let windowNames: Set<String> = [
        "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "DISPLAY", "GDK_SCALE", "GTK_THEME", "QT_FONT_DPI",
        "QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME", "QT_SCALE_FACTOR", "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    /// The environment of one that shows windows.
    package static func forWindows(from variables: [String: String]) -> [String: String] {
        variables.filter { variable in
            names.contains(variable.key) || windowNames.contains(variable.key)
                || variable.key.hasPrefix("LC_") || variable.key.hasPrefix("XDG_")
        }
    }

    /// The environment of one that asks on a terminal: nothing in which it could find a display, or a desktop by way of
    /// the bus.
    package static func forTerminal(from variables: [String: String]) -> [String: String] {
        variables.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    /// The options that tell a locale.
    package static func localeOptions(from variables: [String: String]) -> [AssuanCommand] {
        [("lc-ctype", "LC_CTYPE"), ("lc-messages", "LC_MESSAGES")].compactMap { option, category in
            let values = ["LC_ALL", category, "LANG"].compactMap { variables[$0] }
            return values.first { !$0.isEmpty }.map { AssuanCommand("OPTION", "\(option)=\($0)") }
        }
    }
}
