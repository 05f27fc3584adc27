import Glibc
import KeychaindDesktop

/// The place where a pinentry asks.
enum PinentrySurface {
    /// Windows of a session with these variables.
    case windows([String: String])
    /// A terminal, with these variables of the daemon.
    case terminal(CallerTerminal, [String: String])

    private static let terminalFlavors: Set<Substring> = ["curses", "dumb", "tty"]

    var environment: [String: String] {
        switch self {
        case .windows(let variables): PinentryEnvironment.forWindows(from: variables)
        case .terminal(_, let variables): PinentryEnvironment.forTerminal(from: variables)
        }
    }

    /// The options sent to the pinentry.
    ///
    /// Never `allow-external-password-cache`: it would use the Secret Service, which is asking.
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

    /// The reason why only passwords count as proof there; nil if every answer does.
    var objection: String? {
        switch self {
        case .windows: nil
        case .terminal: "the calling program could answer on its own terminal"
        }
    }

    /// Why the program cannot ask there, by the flavour in its file's name, as in `pinentry-qt`; nil if it may.
    ///
    /// Known without starting it: pinentry-gnome3 waits for seconds while the shell shows another dialog.
    func refusal(ofProgramAt path: String) -> String? {
        let name = PinentrySurface.file(behind: path).split(separator: "/").last ?? ""
        guard case .windows = self, name.hasPrefix("pinentry-") else { return nil }
        return refusal(ofFlavor: String(name.dropFirst("pinentry-".count)))
    }

    /// The file that a path leads to over links.
    static func file(behind path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Why a pinentry of this flavour cannot ask there; nil if it can.
    ///
    /// `GETINFO flavor` reports a fallback after a colon, such as `gtk2:curses` without a display.
    func refusal(ofFlavor flavor: String) -> String? {
        let used = flavor.split(separator: ":").last ?? ""
        // It forwards each question to the owner of the GCR prompter's name, which a sandboxed program can take.
        // keychaind calls that prompter itself, once it has examined the owner.
        if used == "gnome3" { return "asks through another program of the session" }
        let asksOnTerminal = used.isEmpty || PinentrySurface.terminalFlavors.contains(used)
        return switch self {
        case .windows: asksOnTerminal ? "asks on a terminal" : nil
        case .terminal: used.isEmpty || !asksOnTerminal ? "asks in windows" : nil
        }
    }
}

/// The environment variables that a pinentry gets, and its options for the locale.
package enum PinentryEnvironment {
    /// Variables every program needs; others might load code.
    private static let names: Set<String> = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "USER"]

    private static let windowNames: Set<String> = [
        "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "DISPLAY", "GDK_SCALE", "GTK_THEME", "QT_FONT_DPI",
        "QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME", "QT_SCALE_FACTOR", "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    package static func forWindows(from variables: [String: String]) -> [String: String] {
        variables.filter { variable in
            names.contains(variable.key) || windowNames.contains(variable.key)
                || variable.key.hasPrefix("LC_") || variable.key.hasPrefix("XDG_")
        }
    }

    /// Excludes the display and the session bus.
    package static func forTerminal(from variables: [String: String]) -> [String: String] {
        variables.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    package static func localeOptions(from variables: [String: String]) -> [AssuanCommand] {
        [("lc-ctype", "LC_CTYPE"), ("lc-messages", "LC_MESSAGES")].compactMap { option, category in
            let values = ["LC_ALL", category, "LANG"].compactMap { variables[$0] }
            return values.first { !$0.isEmpty }.map { AssuanCommand("OPTION", "\(option)=\($0)") }
        }
    }
}
