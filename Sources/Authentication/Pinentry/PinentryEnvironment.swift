/// What a pinentry is told of the session.
package enum PinentryEnvironment {
    /// What every program needs, and nothing that has it load code: of this, the daemon's environment may have anything.
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

    /// The environment of one that asks on a terminal: nothing in which it could find a display, or a desktop by way of the bus.
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
