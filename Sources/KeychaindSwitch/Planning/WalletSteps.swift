import KeychaindFiles
import KeychaindLanguage

extension SwitchAccount {
    /// KWallet and KeePassXC leave the name to keychaind.
    var walletSteps: [Plan.Step] {
        var steps: [Plan.Step?] = []
        let wallet = walletSettings
        if !wallet.isEmpty {
            steps.append(edit(configFolder + "/kwalletrc", purpose: Text("KWallet hands over to keychaind"), wallet))
        }
        let keePass = configFolder + "/keepassxc/keepassxc.ini"
        if KeyFile(tree.bytes(of: keePass) ?? []).value("FdoSecrets", "Enabled") == "true" {
            steps.append(
                edit(
                    keePass,
                    purpose: Text("KeePassXC does not offer the Secret Service"),
                    [.init("FdoSecrets", "Enabled", "false")]
                )
            )
        }
        return steps.compactMap(\.self)
    }

    private var walletSettings: [KeyFile.Setting] {
        var settings: [KeyFile.Setting] = []
        if hasService("org.kde.kwalletd5") || hasService("org.kde.kwalletd6") {
            settings.append(.init("org.freedesktop.secrets", "apiEnabled", "false"))
        }
        // With ksecretd, kwalletd6 has no wallets of its own and passes calls on to a provider. MigrateTo3rdParty would
        // have it copy what was imported a second time, under other attributes and unprotected.
        if hasService("org.kde.secretservicecompat") || hasService("org.kde.ksecretd")
            || tree.exists("/usr/bin/ksecretd")
        {
            settings.append(.init("KSecretD", "Enabled", "false"))
        }
        return settings
    }

    /// Whether a package has installed an activation file of this name.
    func hasService(_ name: String) -> Bool {
        first(dataFolders.map { "\($0)/dbus-1/services/\(name).service" }) != nil
    }

    /// Browsers that are told to use another provider do not find what is in keychaind.
    var browserNotes: [Text] {
        guard scope == .user else { return [] }
        return tree.names(in: configFolder).filter { $0.hasSuffix("-flags.conf") }.flatMap { name in
            let lines = (tree.text(of: "\(configFolder)/\(name)") ?? "").split(separator: "\n")
            return lines.filter {
                $0.hasPrefix("--password-store=") && $0 != "--password-store=gnome-libsecret"
            }.map {
                Text(
                    "\(configFolder)/\(name) says \($0): write --password-store=gnome-libsecret, or the browser keeps to it"
                )
            }
        }
    }
}
