import KeychaindLanguage
import KeychaindSwitch
import Testing

/// What `keychainctl switch status` finds.
@Suite struct InspectionTests {
    private static let gnome =
        "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/usr/bin/gnome-keyring-daemon --start\n"
    private static let own =
        "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/usr/libexec/keychaind/keychaind-start /usr/bin/keychaind\n"
    private static let services = "/usr/share/dbus-1/services/org.freedesktop.secrets.service"
    private static let shared = "/usr/share/keychaind/org.freedesktop.secrets.service"

    private func switched() throws -> MadeUpSystem {
        let system = try MadeUpSystem([InspectionTests.services: InspectionTests.gnome])
        // A link of the switch leads to the system, so the made-up one has a file in its place.
        try system.write(InspectionTests.own, to: "/run/user/1/dbus-1/services/org.freedesktop.secrets.service")
        let account = system.account(InspectionTests.environment)
        try Switch(account).on(try Plan(for: account))
        return system
    }

    private static let environment = ["XDG_RUNTIME_DIR": "/run/user/1"]

    private func owner(_ program: String) -> Inspection.Owner {
        .init(process: 7, program: program, unit: nil)
    }

    @Test("nothing is to be mended before a switch and after it")
    func inspection_ofTheUsualStates_findsNothing() throws {
        let system = try MadeUpSystem([InspectionTests.services: InspectionTests.gnome])
        let before = system.inspect(owner("/usr/bin/gnome-keyring-daemon"))
        #expect(before.findings == [])
        #expect(before.next?.program == "/usr/bin/gnome-keyring-daemon")
        #expect(before.choice == .none)
        let after = try switched().inspect(owner("/usr/bin/keychaind"), InspectionTests.environment)
        #expect(after.findings == [])
        #expect(after.next?.isKeychaind == true)
        #expect(after.choice == .user)
    }

    @Test("a provider that keeps the name is named with the command that ends it")
    func otherOwner_afterTheSwitch_isFound() throws {
        let findings = try switched().inspect(owner("/usr/bin/kwalletd5"), InspectionTests.environment).findings
        #expect(findings.map(\.mend.english) == ["log out and in, or: keychainctl switch on --now"])
    }

    @Test("after a switch back, keychaind runs until the person logs out")
    func keychaind_afterTheSwitchBack_isLeftByLoggingOut() throws {
        let system = try MadeUpSystem([InspectionTests.services: InspectionTests.gnome])
        try Switch(system.account()).on(try Plan(for: system.account()))
        _ = try Switch(system.account()).off()
        let findings = system.inspect(owner("/usr/bin/keychaind")).findings
        #expect(findings.map(\.mend.english) == ["log out and in, or, to stay with keychaind: keychainctl switch on"])
    }

    @Test(
        "what is not as it should be comes with the command that mends it",
        arguments: [
            (
                "/home/anna/.config/systemd/user/keychaind.service", "→/dev/null",
                "systemctl --user unmask keychaind.service"
            ),
            ("/usr/lib/systemd/user/gnome-keyring-daemon.service", "", "keychainctl switch on"),
        ]
    )
    func finding_hasItsCommand(path: String, content: String, mend: String) throws {
        let system = try switched()
        try system.write(content, to: path)
        #expect(system.inspect(nil, InspectionTests.environment).findings.map(\.mend.english) == [mend])
    }

    @Test("logins that still start another provider are found after the switch of an account, with the way to end that")
    func otherModules_ofLogins_areFound() throws {
        let files = [
            "/etc/pam.d/gdm-password": "auth optional pam_gnome_keyring.so\n# session optional pam_kwallet5.so\n",
            "/etc/pam.d/common-session": "-session\toptional\tpam_kwallet5.so\n",
        ]
        let system = try switched()
        for (path, text) in files { try system.write(text, to: path) }
        let findings = system.inspect(nil, InspectionTests.environment).findings
        let modules = "pam_kwallet5.so in common-session, pam_gnome_keyring.so in gdm-password"
        #expect(findings.map(\.problem.english).allSatisfy { $0.hasSuffix(modules) })
        #expect(findings.map(\.mend.english) == ["an administrator ends that: sudo keychainctl switch on --all"])
        #expect(try MadeUpSystem(files).inspect().findings.allSatisfy { !$0.problem.english.hasSuffix(modules) })
    }

    @Test("an account without any provider is told")
    func account_withoutProvider_isTold() throws {
        let findings = try MadeUpSystem().inspect().findings
        let mend = "install another provider, or, to use keychaind: keychainctl switch on"
        #expect(findings.map(\.mend.english) == [mend])
    }

    @Test(
        "a journal that the switch has not written is refused",
        arguments: [
            "", "{}", "null", #"{"version":2,"isComplete":true,"entries":[],"commands":[],"folders":[]}"#,
            #"{"version":1,"isComplete":true,"entries":[],"commands":[],"folders":["../etc"]}"#,
            #"{"version":1,"isComplete":true,"entries":[],"commands":[],"folders":["/home/../etc"]}"#,
        ]
    )
    func journal_thatIsDamaged_isRefused(text: String) throws {
        let system = try MadeUpSystem(["/home/anna/.local/state/keychaind/switch.json": text])
        #expect(throws: (any Error).self) { try Switch(system.account()).off() }
        #expect(system.inspect().findings.first?.mend.english == "see docs/migrating.md")
        #expect(system.text("/home/anna/.local/state/keychaind/switch.json") == text)
    }
}
