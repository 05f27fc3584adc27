import Foundation
import KeychaindCommandLine
import KeychaindLanguage
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
        "/usr/share/pam-configs/gnome-keyring": "Auth:\n\toptional\tpam_gnome_keyring.so\n",
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
                throw CommandFailure(.failure, Text(verbatim: "cannot write"))
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

    @Test("on Debian, the profiles of KWallet are disabled as that of gnome-keyring")
    func debian_profileOfKWallet_isDisabled() throws {
        let system = try MadeUpSystem(
            AllAccountsTests.debian.merging(
                [
                    "/etc/pam.d/common-auth": "auth\toptional\tpam_kwallet5.so\n",
                    "/usr/share/pam-configs/kde-kwallet": "Auth:\n\toptional\tpam_kwallet5.so\n",
                ],
                uniquingKeysWith: { _, second in second }
            )
        )
        let commands = try Plan(for: system.everybody).commands.map { $0.arguments.dropFirst().joined(separator: " ") }
        #expect(commands == ["--enable keychaind", "--disable kde-kwallet"])
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

    @Test("an installation without a domain says so in each line")
    func noDomain_isInTheLines() throws {
        let system = try MadeUpSystem([
            "/etc/pam.d/system-login": "auth include system-auth\n",
            "/etc/pam.d/passwd": "password include system-auth\n",
            "/usr/lib/security/pam_keychaind.so": "",
            "/usr/share/keychaind/pam-config": "Auth:\n\toptional\tpam_keychaind.so group=none\n",
        ])
        try Switch(system.everybody).on(try Plan(for: system.everybody))
        #expect(
            system.text("/etc/pam.d/passwd")
                == "password include system-auth\npassword  optional  pam_keychaind.so group=none\n"
        )
    }

    /// What becomes of a file of PAM beside others; nil if it stays as it is, and is named.
    private func marked(_ text: String, beside others: [String: String] = [:]) throws -> String? {
        let system = try MadeUpSystem(others.merging(["/etc/pam.d/gdm-password": text]) { $1 })
        let before = try system.entries()
        let plan = try Plan(for: system.everybody)
        try Switch(system.everybody).on(plan)
        let after = system.text("/etc/pam.d/gdm-password")
        let isNamed = plan.notes.contains { $0.english.hasPrefix("/etc/pam.d/gdm-password starts another") }
        #expect(isNamed == (after == text))
        #expect(try Switch(system.everybody).off() == [])
        #expect(try system.entries() == before)
        return after == text ? nil : after
    }

    @Test(
        "a file in which a line is skipped by its number is named, and stays as it is",
        arguments: [
            // With a mark, the jump would pass over `pam_deny.so`.
            """
            auth [success=2 default=ignore] pam_unix.so
            auth optional pam_gnome_keyring.so
            auth requisite pam_deny.so
            auth required pam_permit.so
            """,
            // The number is that of the line itself.
            """
            auth [success=1 default=ignore] pam_kwallet5.so
            auth requisite pam_deny.so
            """,
            "AUTH [default=ignore new_authtok_reqd=3 success=1] pam_unix.so\n-auth optional \\\n  pam_gnome_keyring.so",
            "auth [success=3 default=ignore] pam_unix.so\nauth include two\nauth optional pam_gnome_keyring.so",
            """
            auth [success=4 default=ignore] pam_unix.so
            @include two
            auth substack two
            auth optional pam_kwallet.so
            """,
        ]
    )
    func jump_overALine_leavesTheFile(text: String) throws {
        let two = "auth required pam_env.so\naccount required pam_unix.so\nauth required pam_nologin.so\n"
        #expect(try marked(text, beside: ["/etc/pam.d/two": two]) == nil)
    }

    @Test("a file whose lines others include and skip by a number stays as it is")
    func jump_overAnInclude_leavesTheIncludedFile() throws {
        let login = """
            auth [success=2 default=ignore] pam_unix.so
            auth include gdm-password
            auth requisite pam_deny.so
            """
        let text = "auth optional pam_gnome_keyring.so\nauth required pam_env.so\n"
        #expect(try marked(text, beside: ["/usr/lib/pam.d/login": login]) == nil)
        #expect(try marked(text) != nil)
        // A number counts a substack as one line, whatever is in it.
        let other = login.replacingOccurrences(of: "include", with: "substack")
        #expect(try marked(text, beside: ["/usr/lib/pam.d/login": other]) != nil)
    }

    @Test("numbers that do not reach a line are no reason to leave it")
    func jump_elsewhere_isNoReason() throws {
        let text = """
            auth optional pam_kwallet.so
            auth [success=1 default=ignore] pam_unix.so
            auth requisite pam_deny.so
            session [success=9 default=ignore] pam_unix.so
            auth optional pam_gnome_keyring.so \\
                auto_start
            auth required pam_env.so # not pam_gnome_keyring.so
            """
        #expect(
            try marked(text) == """
                # keychainctl switch: auth optional pam_kwallet.so
                auth [success=1 default=ignore] pam_unix.so
                auth requisite pam_deny.so
                session [success=9 default=ignore] pam_unix.so
                # keychainctl switch: auth optional pam_gnome_keyring.so \\
                # keychainctl switch:     auto_start
                auth required pam_env.so # not pam_gnome_keyring.so
                """
        )
    }

    @Test("files that include themselves and one another many times are read in a moment")
    func include_ofItself_isBounded() throws {
        let line = "auth optional pam_kwallet.so\n"
        let empty = String(repeating: "@include empty\nauth substack empty\n", count: 40)
        let first = String(repeating: "auth include second\n@include gdm-password\n", count: 40)
        let second = String(repeating: "@include gdm-password\nauth substack second\n", count: 40)
        let others = ["/etc/pam.d/empty": empty, "/etc/pam.d/second": second]
        #expect(try marked(line + first, beside: others) != nil)
        let jump = "auth [success=9999 default=ignore] pam_unix.so\n"
        #expect(try marked(line + first + jump, beside: others) == nil)
    }

    @Test("what is no UTF-8 in a file of PAM stays byte for byte")
    func file_notUTF8_staysByteForByte() throws {
        let system = try MadeUpSystem()
        let comment = Array("# f\u{FC}r \r\n".unicodeScalars.map { UInt8($0.value) })
        let line = Array("session optional pam_gnome_keyring.so auto_start".utf8)
        try system.write(comment + line, to: "/etc/pam.d/gdm-password")
        try system.write(comment, to: "/etc/pam.d/other")
        let before = try system.entries()
        try Switch(system.everybody).on(try Plan(for: system.everybody))
        #expect(system.bytes("/etc/pam.d/gdm-password") == comment + Array("# keychainctl switch: ".utf8) + line)
        #expect(system.bytes("/etc/pam.d/other") == comment)
        #expect(try Switch(system.everybody).off() == [])
        #expect(try system.entries() == before)
    }

    @Test("on Arch, no line is added where a number would count it")
    func arch_jumpOverTheEnd_leavesTheFile() throws {
        let jump = """
            auth [success=3 default=ignore] pam_unix.so
            auth include system-login
            auth requisite pam_deny.so
            """
        let system = try MadeUpSystem([
            "/etc/pam.d/system-login": "auth include system-auth\nauth required pam_nologin.so\n",
            "/etc/pam.d/system-auth": "auth required pam_env.so\n",
            "/etc/pam.d/greeter": jump,
            "/etc/pam.d/passwd": "password include system-auth \\\n\n",
            "/usr/lib/security/pam_keychaind.so": "",
        ])
        let before = system.text("/etc/pam.d/system-login")
        let plan = try Plan(for: system.everybody)
        try Switch(system.everybody).on(plan)
        #expect(system.text("/etc/pam.d/system-login") == before)
        #expect(plan.notes.contains { $0.english.hasPrefix("/etc/pam.d/system-login skips lines") })
        #expect(
            system.text("/etc/pam.d/passwd")
                == "password include system-auth \\\n\npassword  optional  pam_keychaind.so\n"
        )
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
            throw CommandFailure(.failure, Text(verbatim: "pam-auth-update failed"))
        }
        let error = #expect(throws: CommandFailure.self) { try failing.on(try Plan(for: system.everybody)) }
        #expect(error?.message == "pam-auth-update failed; nothing has changed")
        #expect(try system.entries() == before)
    }
}
