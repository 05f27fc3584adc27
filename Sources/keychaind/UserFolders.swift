import Glibc

/// Where the user's files are (XDG Base Directory Specification).
///
/// Nil if neither the environment nor the user database has a home. A relative path in a variable is to be ignored.
enum UserFolders {
    /// The keychains, unless the command line says otherwise: `$XDG_DATA_HOME/keychaind`, or `~/.local/share/keychaind`.
    static var data: String? { folder("XDG_DATA_HOME", orInHome: ".local/share") }

    /// Where programs keep the user's data: `$XDG_DATA_HOME`, or `~/.local/share`.
    static var dataHome: String? { data.map { String($0.dropLast("/keychaind".count)) } }

    /// Where keychains may be from before there was a domain, the standard place first.
    ///
    /// What starts keychaind chooses the environment, and must not be able to hide the keychains at the standard place.
    static var earlierData: [String] {
        let standard = (variable("HOME") ?? homeOfUser).map { "\($0)/.local/share/keychaind" }
        return [standard, data].compactMap(\.self).reduce(into: []) { folders, folder in
            if !folders.contains(folder) { folders.append(folder) }
        }
    }

    /// What the user has set: `$XDG_CONFIG_HOME/keychaind`, or `~/.config/keychaind`.
    static var configuration: String? { folder("XDG_CONFIG_HOME", orInHome: ".config") }

    /// What is there as long as the user is logged in: `$XDG_RUNTIME_DIR`; nil without one.
    static var runtime: String? { variable("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil } }

    private static func folder(_ name: String, orInHome path: String) -> String? {
        if let folder = variable(name), folder.hasPrefix("/") {
            return folder + "/keychaind"
        }
        return (variable("HOME") ?? homeOfUser).map { "\($0)/\(path)/keychaind" }
    }

    private static var homeOfUser: String? {
        getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
