/// What a pinentry is told of the session.
package enum PinentryEnvironment {
    /// What a program with a window needs, and nothing that has it load code: of this, the daemon's environment may have anything.
    private static let names: Set<String> = [
        "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "DISPLAY", "GDK_SCALE", "GTK_THEME", "HOME", "LANG", "LANGUAGE",
        "LOGNAME", "PATH", "QT_FONT_DPI", "QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME", "QT_SCALE_FACTOR", "USER",
        "WAYLAND_DISPLAY", "XAUTHORITY",
    ]
    private static let prefixes = ["LC_", "XDG_"]

    /// The flavours without windows.
    private static let terminalFlavors: Set<Substring> = ["curses", "dumb", "tty"]

    /// The environment that it is started in.
    package static func passed(from variables: [String: String]) -> [String: String] {
        variables.filter { variable in
            names.contains(variable.key) || prefixes.contains { variable.key.hasPrefix($0) }
        }
    }

    /// The options that it is given.
    ///
    /// Never `allow-external-password-cache`: with it a pinentry looks passwords up in, and puts them into, the Secret Service, which
    /// is who asks. And no `ttyname`, since there is no terminal.
    package static func options(from variables: [String: String]) -> [AssuanCommand] {
        [("lc-ctype", "LC_CTYPE"), ("lc-messages", "LC_MESSAGES")].compactMap { option, category in
            let values = ["LC_ALL", category, "LANG"].compactMap { variables[$0] }
            return values.first { !$0.isEmpty }.map { AssuanCommand("OPTION", "\(option)=\($0)") }
        }
    }

    /// Whether the flavour, as `GETINFO flavor` tells it, asks in a window; what comes after a colon is what it has fallen back on.
    package static func hasWindows(flavor: String) -> Bool {
        guard let used = flavor.split(separator: ":").last else { return false }
        return !terminalFlavors.contains(used)
    }
}
