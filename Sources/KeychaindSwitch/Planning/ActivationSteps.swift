import KeychaindFiles
import KeychaindLanguage

extension SwitchAccount {
    /// The bus starts keychaind for the name.
    ///
    /// A link: after an uninstallation it leads nowhere, the bus ignores it, and the former provider answers again.
    var activationSteps: [Plan.Step] {
        [
            Plan.Step(
                path: dataFolder + "/dbus-1/services/org.freedesktop.secrets.service",
                purpose: Text("the bus starts keychaind"),
                becomes: .link(target: installation.activationFile)
            )
        ]
    }

    /// systemd starts keychaind at the login, and no other provider.
    var unitSteps: [Plan.Step] {
        var steps: [Plan.Step] = []
        let wanted = [("default.target.wants", "keychaind.service"), ("sockets.target.wants", "keychaind.socket")]
        for (target, unit) in wanted {
            let link = FileState.link(target: installation.unit(unit))
            if !installation.hasFoundUnits {
                steps.append(
                    Plan.Step(path: "\(unitFolder)/\(unit)", purpose: Text("systemd knows \(unit)"), becomes: link)
                )
            }
            steps.append(
                Plan.Step(
                    path: "\(unitFolder)/\(target)/\(unit)",
                    purpose: Text("systemd starts \(unit) at the login"),
                    becomes: link
                )
            )
        }
        for name in SwitchAccount.otherUnits where unit(name) != nil {
            steps.append(
                Plan.Step(
                    path: "\(unitFolder)/\(name).d/50-keychaind.conf",
                    purpose: Text("\(name) stays off"),
                    becomes: .text(condition)
                )
            )
        }
        return steps
    }

    private static let otherUnits = [
        "gnome-keyring-daemon.service", "gnome-keyring-daemon.socket", "oo7-daemon.service",
    ]

    /// Rather than a mask, which would outlast an uninstallation.
    private var condition: String {
        """
        # Made by keychainctl switch, and removed by keychainctl switch off. The unit starts again without keychaind.
        [Unit]
        ConditionPathExists=!\(installation.daemon)

        """
    }

    /// Desktops do not start gnome-keyring's Secret Service.
    var autostartSteps: [Plan.Step] {
        let name = "/autostart/gnome-keyring-secrets.desktop"
        guard let present = first(([configFolder] + configFolders).map { $0 + name }) else { return [] }
        let purpose = Text("the desktop does not start gnome-keyring")
        if KeyFile(tree.bytes(of: present) ?? []).value("Desktop Entry", "Hidden") == "true" { return [] }
        if scope == .all {
            return [edit(configFolder + name, purpose: purpose, [.init("Desktop Entry", "Hidden", "true")])]
                .compactMap(\.self)
        }
        return [
            Plan.Step(
                path: configFolder + name,
                purpose: purpose,
                becomes: .link(target: installation.shared("hidden.desktop"))
            )
        ]
    }
}
