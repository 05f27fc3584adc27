import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindSwitch
import KeychaindTestSupport
import Testing

/// What has to be changed, by what is there.
@Suite struct PlanTests {
    private static let always = [
        "/home/anna/.config/systemd/user/default.target.wants/keychaind.service",
        "/home/anna/.config/systemd/user/sockets.target.wants/keychaind.socket",
        "/home/anna/.local/share/dbus-1/services/org.freedesktop.secrets.service",
    ]

    @Test(
        "the plan has a step for each file that makes another program the provider",
        arguments: [
            ([:], []),
            (
                [
                    "/usr/lib/systemd/user/gnome-keyring-daemon.service": "",
                    "/etc/xdg/autostart/gnome-keyring-secrets.desktop": "",
                ],
                [
                    ".config/systemd/user/gnome-keyring-daemon.service.d/50-keychaind.conf",
                    ".config/autostart/gnome-keyring-secrets.desktop",
                ]
            ),
            (["/usr/share/dbus-1/services/org.kde.kwalletd5.service": ""], [".config/kwalletrc"]),
            (["/usr/share/dbus-1/services/org.kde.secretservicecompat.service": ""], [".config/kwalletrc"]),
            (
                ["/usr/lib/systemd/user/oo7-daemon.service": ""],
                [".config/systemd/user/oo7-daemon.service.d/50-keychaind.conf"]
            ),
            (
                ["/home/anna/.config/keepassxc/keepassxc.ini": "[FdoSecrets]\nEnabled=true\n"],
                [".config/keepassxc/keepassxc.ini"]
            ),
            (["/home/anna/.config/keepassxc/keepassxc.ini": "[FdoSecrets]\nEnabled=false\n"], []),
            (["/usr/libexec/xdg-desktop-portal": ""], [".local/share/xdg-desktop-portal/portals/keychaind.portal"]),
            (["/home/anna/.config/autostart/gnome-keyring-secrets.desktop": "[Desktop Entry]\nHidden=true\n"], []),
        ] as [([String: String], [String])]
    )
    func plan_hasAStepForEachOtherProvider(files: [String: String], paths: [String]) throws {
        let system = try MadeUpSystem(files)
        let plan = try Plan(for: system.account())
        #expect(plan.steps.map(\.path).sorted() == (PlanTests.always + paths.map { "/home/anna/" + $0 }).sorted())
        #expect(plan.commands.isEmpty)
    }

    @Test(
        "KWallet is told in its own words to hand over",
        arguments: [
            ("org.kde.kwalletd5", ["[org.freedesktop.secrets]\napiEnabled=false\n"]),
            ("org.kde.ksecretd", ["[KSecretD]\nEnabled=false\n"]),
        ]
    )
    func kwallet_handsOver(service: String, expected: [String]) throws {
        let system = try MadeUpSystem([
            "/usr/share/dbus-1/services/\(service).service": "",
            "/home/anna/.config/kwalletrc": "[Wallet]\nEnabled=true\n",
        ])
        let account = system.account()
        let before = try system.entries()
        try Switch(account).on(try Plan(for: account))
        let text = try #require(system.text("/home/anna/.config/kwalletrc"))
        #expect(text.hasPrefix("[Wallet]\nEnabled=true\n"))
        for group in expected { #expect(text.contains(group)) }
        // It would have kwalletd6 copy all items a second time.
        #expect(!text.contains("MigrateTo3rdParty"))
        #expect(try Plan(for: account).isEmpty)
        #expect(try Switch(account).off() == [])
        #expect(try system.entries() == before)
    }

    @Test(
        "the portal's first file is copied, and keychaind comes before the former choice",
        arguments: [
            ("GNOME", "gnome-portals.conf", "keychaind;gnome-keyring"),
            ("KDE", "kde-portals.conf", "keychaind;kde;gtk"),
            ("ubuntu:GNOME", "gnome-portals.conf", "keychaind;gnome-keyring"),
            ("sway", "portals.conf", "keychaind;*"),
        ]
    )
    func portalFile_isCopied(desktop: String, name: String, expected: String) throws {
        let system = try MadeUpSystem([
            "/usr/libexec/xdg-desktop-portal": "",
            "/usr/share/xdg-desktop-portal/gnome-portals.conf":
                "[preferred]\ndefault=gnome;gtk;\norg.freedesktop.impl.portal.Secret=gnome-keyring\n",
            "/usr/share/xdg-desktop-portal/kde-portals.conf": "[preferred]\ndefault=kde;gtk\n",
        ])
        let account = system.account(["XDG_CURRENT_DESKTOP": desktop])
        try Switch(account).on(try Plan(for: account))
        let text = try #require(system.text("/home/anna/.config/xdg-desktop-portal/\(name)"))
        #expect(text.contains("org.freedesktop.impl.portal.Secret=\(expected)\n"))
        #expect(text.contains("default="))
        #expect(try Plan(for: account).isEmpty)
    }

    @Test("switched again, a file keeps what others have written since")
    func secondSwitch_keepsChangesOfOthers() throws {
        let system = try MadeUpSystem(["/usr/share/dbus-1/services/org.kde.kwalletd5.service": ""])
        let account = system.account()
        try Switch(account).on(try Plan(for: account))
        try system.write(
            "[org.freedesktop.secrets]\napiEnabled=true\n[Wallet]\nUse=1\n",
            to: "/home/anna/.config/kwalletrc"
        )
        try Switch(account).on(try Plan(for: account))
        let text = system.text("/home/anna/.config/kwalletrc")
        #expect(text == "[org.freedesktop.secrets]\napiEnabled=false\n[Wallet]\nUse=1\n")
        #expect(try Switch(account).off() == [])
        let restored = system.text("/home/anna/.config/kwalletrc")
        #expect(restored == "[org.freedesktop.secrets]\napiEnabled=true\n[Wallet]\nUse=1\n")
    }

    @Test("after a second switch, a key that others have left alone is undone as before the first one")
    func secondSwitch_undoesItsFirstKeys() throws {
        let services = "/usr/share/dbus-1/services/org.kde."
        let system = try MadeUpSystem(["\(services)ksecretd.service": "", "\(services)kwalletd6.service": ""])
        let account = system.account()
        try Switch(account).on(try Plan(for: account))
        try system.write(
            "[KSecretD]\nEnabled=true\n\n[org.freedesktop.secrets]\napiEnabled=false\nUse=1\n",
            to: "/home/anna/.config/kwalletrc"
        )
        try Switch(account).on(try Plan(for: account))
        #expect(try Switch(account).off() == [])
        let restored = system.text("/home/anna/.config/kwalletrc")
        #expect(restored == "[KSecretD]\nEnabled=true\n\n[org.freedesktop.secrets]\nUse=1\n")
    }

    @Test(
        "after a second switch, what somebody else had put in the place of a file is restored, or else the first file",
        arguments: [(nil, "mine\n"), ("first\n", nil), ("first\n", "mine\n")] as [(String?, String?)]
    )
    func secondSwitch_restoresTheLastFile(first: String?, since: String?) throws {
        let path = "/home/anna/.local/share/dbus-1/services/org.freedesktop.secrets.service"
        let system = try MadeUpSystem(first.map { [path: $0] } ?? [:])
        let account = system.account()
        try Switch(account).on(try Plan(for: account))
        // The link leads to a file of this machine.
        #expect(unlink(system.root.path + path) == 0)
        if let since { try system.write(since, to: path) }
        try Switch(account).on(try Plan(for: account))
        let link = FileState.link(target: "/usr/share/keychaind/org.freedesktop.secrets.service")
        #expect(try account.tree.state(of: path) == link)
        #expect(try Switch(account).off() == [])
        let last = since ?? first
        #expect(system.text(path) == last)
    }

    @Test("the first switch keeps others away, also when it has made the folders of its journal")
    func secondSwitch_duringTheFirst_isRefused() throws {
        let system = try MadeUpSystem()
        let account = system.account()
        let held = open(system.root.path + "/home/anna", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(held) }
        #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
        try system.write("", to: "/home/anna/.local/state/keychaind/.switch.json.keychaind-switch")
        #expect(throws: CommandFailure.self) { try Switch(account).on(try Plan(for: account)) }
        #expect(throws: CommandFailure.self) { _ = try Switch(account).off() }
        #expect(system.text("/home/anna/.local/state/keychaind/.switch.json.keychaind-switch") == "")
        #expect(system.text(account.journalPath) == nil)
    }

    @Test("a browser with another store is named")
    func browser_withAnotherStore_isNamed() throws {
        let system = try MadeUpSystem([
            "/home/anna/.config/chromium-flags.conf": "--ozone\n--password-store=kwallet5\n",
            "/home/anna/.config/brave-flags.conf": "--password-store=gnome-libsecret\n",
        ])
        let notes = try Plan(for: system.account()).notes
        #expect(notes.count == 1)
        #expect(notes.first?.english.contains("chromium-flags.conf says --password-store=kwallet5") == true)
    }

    @Test("relative and empty folders in the environment do not count")
    func environment_withRelativeFolders_isIgnored() throws {
        let account = try MadeUpSystem().account([
            "XDG_CONFIG_HOME": "here", "XDG_DATA_DIRS": "", "XDG_STATE_HOME": "/s/",
        ])
        #expect(account.configFolder == "/home/anna/.config")
        #expect(account.dataFolders == ["/usr/local/share", "/usr/share"])
        #expect(account.journalPath == "/s/keychaind/switch.json")
    }
}
