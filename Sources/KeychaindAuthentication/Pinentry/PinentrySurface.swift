import Glibc
import KeychaindDBus
import KeychaindDesktop

/// The place where a pinentry asks.
enum PinentrySurface {
    /// Windows on a screen that a person sees, with the other variables of the session.
    case screen(ScreenDisplay, [String: String])
    /// Windows on whatever display these variables name.
    case windows([String: String])
    /// A terminal, with these variables of the daemon.
    case terminal(CallerTerminal, [String: String])

    private static let terminalFlavors: Set<Substring> = ["curses", "dumb", "tty"]

    var environment: [String: String] {
        switch self {
        case .screen(let display, let variables): PinentryEnvironment.forScreen(display, from: variables)
        case .windows(let variables): PinentryEnvironment.forWindows(from: variables)
        case .terminal(_, let variables): PinentryEnvironment.forTerminal(from: variables)
        }
    }

    /// The options sent to the pinentry.
    ///
    /// Never `allow-external-password-cache`: it would use the Secret Service, which is asking.
    var options: [AssuanCommand] {
        switch self {
        case .screen(_, let variables), .windows(let variables):
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
        case .screen: nil
        case .windows: "its display is not known to be on a screen"
        case .terminal: "the calling program could answer on its own terminal"
        }
    }

    /// Looks again whether a person sees it: another user may be in front of the screen by now.
    @BusActor
    func currentObjection() async -> String? {
        guard case .screen(let display, _) = self else { return objection }
        return await display.isVisible() ? nil : "its session is not on the screen"
    }

    var hasWindows: Bool {
        switch self {
        case .screen, .windows: true
        case .terminal: false
        }
    }

    /// The connection to the compositor that the program gets, beside its input and output.
    var compositor: FileDescriptor? {
        if case .screen(let display, _) = self { display.wayland } else { nil }
    }

    /// Why the program cannot ask there, by the flavour in its file's name, as in `pinentry-qt`; nil if it may.
    ///
    /// Known without starting it: pinentry-gnome3 waits for seconds while the shell shows another dialog.
    func refusal(ofProgramAt path: String) -> String? {
        let name = PinentrySurface.file(behind: path).split(separator: "/").last ?? ""
        guard hasWindows, name.hasPrefix("pinentry-") else { return nil }
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
        // keychaind calls that prompter itself, once it knows that no sandbox owns the name.
        if used == "gnome3" { return "asks through another program of the session" }
        let asksOnTerminal = used.isEmpty || PinentrySurface.terminalFlavors.contains(used)
        if hasWindows { return asksOnTerminal ? "asks on a terminal" : nil }
        return used.isEmpty || !asksOnTerminal ? "asks in windows" : nil
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

    /// Excludes all that lets a program of the user reach into the dialog or change its looks: files below the home
    /// folder, themes and modules, the session bus, where screen readers and input methods listen.
    package static func forScreen(_ display: ScreenDisplay, from variables: [String: String]) -> [String: String] {
        var own = variables.filter {
            ["LANG", "LANGUAGE", "LOGNAME", "USER"].contains($0.key) || $0.key.hasPrefix("LC_")
        }
        own["PATH"] = "/usr/bin:/bin"
        for name in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] { own[name] = "/dev/null" }
        own["XDG_CONFIG_DIRS"] = "/etc/xdg"
        own["XDG_DATA_DIRS"] = "/usr/local/share:/usr/share"
        if display.isAccessible {
            own["KEYCHAIND_DIALOG_ACCESSIBLE"] = "1"
            own["DBUS_SESSION_BUS_ADDRESS"] = variables["DBUS_SESSION_BUS_ADDRESS"]
        } else {
            // Without an address, libraries look for a bus in the runtime folder and on the X11 display, or start one.
            own["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
            own["NO_AT_BRIDGE"] = "1"
        }
        if display.wayland != nil {
            own["WAYLAND_SOCKET"] = "\(PinentryProcess.compositorDescriptor)"
            // pinentry opens no window without one of the two names.
            own["WAYLAND_DISPLAY"] = "wayland-0"
            own["XDG_SESSION_TYPE"] = "wayland"
        }
        if let x11 = display.x11 {
            own["DISPLAY"] = x11
            own["XAUTHORITY"] = variables["XAUTHORITY"] ?? variables["HOME"].map { "\($0)/.Xauthority" }
        }
        return own
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
