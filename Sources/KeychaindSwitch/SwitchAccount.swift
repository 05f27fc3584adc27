/// The folders of an account, or of all accounts, whose provider is switched.
package struct SwitchAccount: Hashable, Sendable {
    package enum Scope: String, Codable, Sendable {
        case user
        /// The folders of the system, for all accounts that have made no choice of their own.
        case all
    }

    package let scope: Scope
    package let tree: FileTree
    package let installation: Installation
    /// `~/.config`, or `/etc/xdg`.
    package let configFolder: String
    /// `~/.local/share`, or `/usr/local/share`.
    package let dataFolder: String
    package let stateFolder: String
    /// Where units of the switch are put.
    package let unitFolder: String
    /// The folders of the system in which files of that kind are searched, the first first.
    package let configFolders: [String]
    package let dataFolders: [String]
    package let unitFolders = [
        "/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user", "/lib/systemd/user",
    ]
    /// The names of the running desktop; empty outside of one.
    package let desktops: [String]
    /// `$XDG_RUNTIME_DIR`; nil outside of a session.
    package let runtimeFolder: String?

    package var journalPath: String { stateFolder + "/switch.json" }

    /// The account of a user, by its environment.
    package init(
        home: String,
        environment: [String: String],
        tree: FileTree = FileTree(care: .own),
        installation: Installation
    ) {
        // Relative paths are invalid in these variables.
        func folder(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? SwitchAccount.withoutTrailingSlash($0) : nil }
        }
        func folders(_ name: String, _ standard: [String]) -> [String] {
            let found = (environment[name] ?? "").split(separator: ":").map {
                SwitchAccount.withoutTrailingSlash(String($0))
            }
            return found.isEmpty ? standard : found.filter { $0.hasPrefix("/") }
        }
        scope = .user
        self.tree = tree
        self.installation = installation
        let home = SwitchAccount.withoutTrailingSlash(home)
        configFolder = folder("XDG_CONFIG_HOME") ?? home + "/.config"
        dataFolder = folder("XDG_DATA_HOME") ?? home + "/.local/share"
        stateFolder = (folder("XDG_STATE_HOME") ?? home + "/.local/state") + "/keychaind"
        unitFolder = configFolder + "/systemd/user"
        configFolders = folders("XDG_CONFIG_DIRS", ["/etc/xdg"])
        dataFolders = folders("XDG_DATA_DIRS", ["/usr/local/share", "/usr/share"])
        desktops = (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map { $0.lowercased() }
        runtimeFolder = folder("XDG_RUNTIME_DIR")
    }

    /// All accounts of the system, or of an image of one.
    package init(root: String = "", installation: Installation) {
        scope = .all
        tree = FileTree(root: SwitchAccount.withoutTrailingSlash(root), care: .roots)
        self.installation = installation
        configFolder = "/etc/xdg"
        dataFolder = "/usr/local/share"
        stateFolder = "/var/lib/keychaind"
        unitFolder = "/etc/systemd/user"
        configFolders = ["/etc/xdg"]
        dataFolders = ["/usr/local/share", "/usr/share"]
        desktops = []
        runtimeFolder = nil
    }

    private static func withoutTrailingSlash(_ path: String) -> String {
        var path = path[...]
        while path.last == "/" { path = path.dropLast() }
        return String(path)
    }

    /// The path of the first of these that exists.
    func first(_ paths: some Sequence<String>) -> String? {
        paths.first { tree.exists($0) }
    }

    func unit(_ name: String) -> String? {
        first(unitFolders.map { "\($0)/\(name)" })
    }
}

/// Where keychaind is installed.
package struct Installation: Hashable, Sendable {
    /// Such as `/usr/local`.
    package let prefix: String

    package init(prefix: String) {
        self.prefix = prefix
    }

    /// The installation of a program, by the path of its file; nil if it is in no folder `bin`.
    package init?(program: String) {
        let folder = program.parentFolder
        guard folder.lastComponent == "bin" else { return nil }
        prefix = folder.parentFolder == "/" ? "" : folder.parentFolder
    }

    package var daemon: String { prefix + "/bin/keychaind" }
    package var activationFile: String { shared("org.freedesktop.secrets.service") }

    func shared(_ name: String) -> String { "\(prefix)/share/keychaind/\(name)" }
    func unit(_ name: String) -> String { "\(prefix)/lib/systemd/user/\(name)" }

    /// Whether systemd searches the folder of its units.
    var hasFoundUnits: Bool { ["/usr", "/usr/local"].contains(prefix) }
}
