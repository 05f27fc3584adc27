import Glibc

/// Where the keychains are, unless the command line says otherwise.
enum DataDirectory {
    /// `$XDG_DATA_HOME/keychaind`, or `~/.local/share/keychaind` (XDG Base Directory Specification).
    ///
    /// Nil if neither the environment nor the user database has a home. A relative XDG_DATA_HOME is to be ignored.
    static var standard: String? {
        if let folder = variable("XDG_DATA_HOME"), folder.hasPrefix("/") {
            return folder + "/keychaind"
        }
        return (variable("HOME") ?? homeOfUser).map { $0 + "/.local/share/keychaind" }
    }

    private static var homeOfUser: String? {
        getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
