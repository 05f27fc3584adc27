import Foundation
import KeychaindCommandLine
import KeychaindSwitch
import KeychaindTestSupport
import Synchronization
import Testing

/// The switch of all accounts, as root.
@Suite(.enabled(if: geteuid() == 0, "only root's files can be changed with root's care"))
struct AllAccountsTests {
    private static let debian = [
        "/etc/pam.d/gdm-password": "#%PAM-1.0\nauth\toptional\tpam_gnome_keyring.so\n@include common-auth\n",
        "/etc/pam.d/common-auth": "auth\toptional\tpam_gnome_keyring.so\n",
        "/usr/sbin/pam-auth-update": "",
        "/usr/share/pam-configs/gnome-keyring": "",
        "/usr/share/pam-configs/keychaind": "",
        "/usr/lib/x86_64-linux-gnu/security/pam_keychaind.so": "",
        "/etc/xdg/autostart/gnome-keyring-secrets.desktop": "[Desktop Entry]\nName=x\n",
    ]

    /// A `pam-auth-update` that replaces a file.
    private func update(_ system: MadeUpSystem, _ log: Recorded) -> Switch {
        Switch(system.everybody) { (arguments) throws(CommandFailure) in
            log.lines.withLock { $0.append(arguments.dropFirst().joined(separator: " ")) }
            let text = "auth\toptional\tpam_keychaind.so # \(arguments.joined(separator: " "))\n"
            guard (try? system.write(text, to: "/etc/pam.d/common-auth")) != nil else {
                throw CommandFailure(.failure, "cannot write")
            }
        }
    }

    private final class Recorded: Sendable {
        let lines = Mutex<[String]>([])
    }

    @Test("on Debian, PAM's own program enables the profile, and all is restored byte for byte")
    func debian_isSwitchedAndRestored() throws {
        let system = try MadeUpSystem(AllAccountsTests.debian)
        let before = try system.entries()
        let log = Recorded()
        let change = update(system, log)
        try change.on(try Plan(for: system.everybody))
        #expect(log.lines.withLock(\.self) == ["--enable keychaind", "--disable gnome-keyring"])
        #expect(
            system.text("/etc/pam.d/gdm-password")?.contains("\n# keychainctl switch: auth\toptional\tpam_gnome")
                == true
        )
        #expect(system.text("/etc/xdg/autostart/gnome-keyring-secrets.desktop")?.contains("Hidden=true") == true)
        #expect(try Plan(for: system.everybody).isEmpty)
        #expect(try change.off() == [])
        #expect(try system.entries() == before)
        #expect(log.lines.withLock(\.count) == 2)
    }

    @Test("after a change by the administrator, PAM's own program disables the profile")
    func debian_withLaterChange_isUndoneByTheProgram() throws {
        let system = try MadeUpSystem(AllAccountsTests.debian)
        let log = Recorded()
        let change = update(system, log)
        try change.on(try Plan(for: system.everybody))
        try system.write("auth required pam_unix.so\n", to: "/etc/pam.d/common-auth")
        #expect(try change.off() == [])
        #expect(log.lines.withLock { $0.suffix(2) } == ["--enable gnome-keyring", "--disable keychaind"])
        #expect(system.text("/etc/pam.d/gdm-password") == AllAccountsTests.debian["/etc/pam.d/gdm-password"])
    }

    @Test("on Arch, each line comes after the last of its kind")
    func arch_getsTheLines() throws {
        let system = try MadeUpSystem([
            "/etc/pam.d/system-login":
                "auth include system-auth\n\naccount include system-auth\n-session optional pam_systemd.so\n",
            "/etc/pam.d/passwd": "password include system-auth\n",
            "/usr/lib/security/pam_keychaind.so": "",
        ])
        let before = try system.entries()
        try Switch(system.everybody).on(try Plan(for: system.everybody))
        #expect(
            system.text("/etc/pam.d/system-login") == """
                auth include system-auth
                auth  optional  pam_keychaind.so

                account include system-auth
                -session optional pam_systemd.so
                session  optional  pam_keychaind.so

                """
        )
        #expect(try Switch(system.everybody).off() == [])
        #expect(try system.entries() == before)
    }

    @Test("for packages PAM is left out, and another provider is recognised")
    func packages_leavePAMAlone() throws {
        let system = try MadeUpSystem(AllAccountsTests.debian)
        let plan = try Plan(for: system.everybody, withLogins: false)
        #expect(plan.commands.isEmpty)
        #expect(!plan.steps.contains { $0.path.hasPrefix("/etc/pam.d") })
        #expect(system.everybody.otherProviders.isEmpty)
        try system.write("", to: "/usr/bin/gnome-keyring-daemon")
        #expect(system.everybody.otherProviders == ["gnome-keyring"])
    }

    @Test("a folder that others can change is refused, and nothing is half done")
    func folder_ofOthers_isRefused() throws {
        let system = try MadeUpSystem(["/usr/local/share/dbus-1/x": ""])
        let before = try system.entries()
        chmod(system.root.path("usr/local/share"), 0o777)
        defer { chmod(system.root.path("usr/local/share"), 0o755) }
        #expect(throws: CommandFailure.self) {
            try Switch(system.everybody).on(try Plan(for: system.everybody))
        }
        chmod(system.root.path("usr/local/share"), 0o755)
        #expect(try system.entries() == before)
    }

    @Test("a failing program undoes all, and its message stays")
    func program_thatFails_undoesAll() throws {
        let system = try MadeUpSystem(AllAccountsTests.debian)
        let before = try system.entries()
        let failing = Switch(system.everybody) { (_) throws(CommandFailure) in
            throw CommandFailure(.failure, "pam-auth-update failed")
        }
        let error = #expect(throws: CommandFailure.self) { try failing.on(try Plan(for: system.everybody)) }
        #expect(error?.message == "pam-auth-update failed; nothing has changed")
        #expect(try system.entries() == before)
    }
}
