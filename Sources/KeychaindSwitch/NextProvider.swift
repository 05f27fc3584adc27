import KeychaindFiles

/// The program that the bus starts for a provider, if none runs already.
package struct NextProvider: Hashable, Sendable {
    package let activationFile: String
    /// The program of its `Exec=`; of keychaind, not the one that starts it.
    package let program: String

    package var isKeychaind: Bool { program.lastComponent == "keychaind" }

    /// The first activation file of the name; nil if no provider is installed.
    package init?(for account: SwitchAccount) {
        let runtime = account.runtimeFolder.map { [$0] } ?? []
        for folder in runtime + [account.dataFolder] + account.dataFolders {
            let path = "\(folder)/dbus-1/services/org.freedesktop.secrets.service"
            guard let bytes = account.tree.bytes(of: path),
                let words = KeyFile(bytes).value("D-BUS Service", "Exec")?.split(separator: " "),
                let first = words.first
            else { continue }
            activationFile = path
            let starts = first.hasSuffix("/keychaind-start") && words.count > 1
            program = String(starts ? words[1] : first)
            return
        }
        return nil
    }
}

extension SwitchAccount {
    /// The other providers that are installed, by the names that people know them by.
    package var otherProviders: [String] {
        var found: [String] = []
        let programs = [
            ("gnome-keyring-daemon", "gnome-keyring"), ("oo7-daemon", "oo7"), ("keepassxc", "KeePassXC"),
            ("ksecretd", "KWallet"), ("kwalletd6", "KWallet"), ("kwalletd5", "KWallet"),
        ]
        let folders = ["/usr/bin", "/usr/local/bin", "/usr/libexec", "/usr/lib", "/bin"]
        for (program, name) in programs where !found.contains(name) && first(folders.map { "\($0)/\(program)" }) != nil
        {
            found.append(name)
        }
        if let next = NextProvider(for: self), !next.isKeychaind, found.isEmpty {
            found.append(next.program.lastComponent)
        }
        return found
    }
}
