import Glibc
import KeychaindVault

/// The user's folders (XDG Base Directory Specification).
///
/// Nil without a home in the environment and the user database. Relative paths in variables are ignored.
enum UserFolders {
    /// The default folder of keychains: `$XDG_DATA_HOME/keychaind`, or `~/.local/share/keychaind`.
    static var data: String? { folder("XDG_DATA_HOME", orInHome: ".local/share") }

    /// The folder of programs' data: `$XDG_DATA_HOME`, or `~/.local/share`.
    static var dataHome: String? { data.map { String($0.dropLast("/keychaind".count)) } }

    /// The places of keychains from before the domain, the standard one first; nil if the user database names no home.
    ///
    /// The starting process chooses the environment, and must not be able to hide keychains in the standard folder.
    static var earlierData: KeychainMove.Places? {
        guard let home = variable("HOME") ?? homeOfUser else { return nil }
        let standard = "\(home)/.local/share/keychaind"
        let other = data.flatMap { folder in folder == standard ? nil : folder }
        return KeychainMove.Places(home: home, folders: [standard] + (other.map { [$0] } ?? []))
    }

    /// The runtime folder, which lasts until logout: `$XDG_RUNTIME_DIR`; nil if unset.
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
