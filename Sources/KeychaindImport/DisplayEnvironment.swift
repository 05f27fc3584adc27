import Glibc

/// The variables by which a program reaches the person: display, language and path; nothing else of the session.
enum DisplayEnvironment {
    private static let names = [
        "PATH", "LANG", "LANGUAGE", "DISPLAY", "XAUTHORITY", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP",
        "QT_QPA_PLATFORM", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "USER", "LOGNAME", "TMPDIR",
    ]

    static var variables: [String: String] {
        var variables: [String: String] = [:]
        for name in names { variables[name] = variable(name) }
        for category in ["LC_ALL", "LC_CTYPE", "LC_MESSAGES"] { variables[category] = variable(category) }
        // Their defaults are relative to folders that the program does not get.
        if variables["XAUTHORITY"] == nil, let home = variable("HOME"), access(home + "/.Xauthority", R_OK) == 0 {
            variables["XAUTHORITY"] = home + "/.Xauthority"
        }
        if let display = variable("WAYLAND_DISPLAY") {
            let runtime = variable("XDG_RUNTIME_DIR").map { $0 + "/" } ?? ""
            variables["WAYLAND_DISPLAY"] = display.hasPrefix("/") ? display : runtime + display
        }
        return variables
    }

    /// Whether a dialog can be shown.
    static var hasDisplay: Bool { variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil }

    /// Nil if it is unset or empty.
    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A folder of the user by the XDG base directory specification; nil without a home folder.
    static func folder(_ name: String, default fallback: String) -> String? {
        if let folder = variable(name), folder.hasPrefix("/") { return folder }
        return variable("HOME").map { "\($0)/\(fallback)" }
    }
}
