import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindTestSupport
import Testing

/// The content of a process's folder, and false claims in it.
struct ProcessInspectorTests {
    // MARK: Opaque

    @Test
    func inspect_noProcessID_isOpaque() throws {
        let caller = Caller(uniqueName: ":1.1", insight: try ProcessInspector().inspect(ConnectionCredentials()))
        #expect(caller.reason == "the bus does not report its process")
        #expect(caller.description == "an unknown program (the bus does not report its process)")
        #expect(caller.evidence == .nothing)
        #expect(caller.applicationIdentity == nil)
    }

    @Test(arguments: [0, UInt32.max, UInt32(Int32.max) + 1])
    func inspect_processOutOfSight_isOpaque(id: UInt32) throws {
        var fixture = try ProcessFixture()
        fixture.credentials.processID = id
        #expect(fixture.caller.reason?.contains("is hidden") == true)
    }

    @Test
    func inspect_processHasEnded_isOpaque() throws {
        var fixture = try ProcessFixture()
        fixture.credentials.processID = 4712
        #expect(fixture.caller.reason == "process 4712 has ended or cannot be seen")
    }

    @Test(
        arguments: [
            "", "4711", "4711 (name", "4711 name) S", ")(", "4711 (name) S 1 2 3",
            "4711 (name) S 1 4711 4711 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 -1 1 1",
            "4711 (name) S 1 4711 4711 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 99999999999999999999 1 1",
        ]
    )
    func inspect_statusIsGarbage_isOpaque(status: String) throws {
        #expect(try ProcessFixture(stat: status).caller.process == nil)
    }

    @Test
    func inspect_statusIsNoFile_isOpaque() throws {
        let fixture = try ProcessFixture(stat: nil)
        try #require(mkfifo(fixture.folder.path("4711/stat"), 0o600) == 0)
        #expect(fixture.caller.process == nil)
    }

    @Test
    func inspect_heldProcess_isBelievedWhileItRuns() throws {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        try #require(socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0)
        var fixture = try ProcessFixture()
        // Like a process descriptor, a connection is readable once the other side has ended.
        fixture.credentials.processDescriptor = FileDescriptor(owning: ends[0])
        #expect(fixture.caller.process?.isHeldByBus == true)
        // Another test's child may have inherited the other side; this ends it for all.
        shutdown(ends[1], Int32(SHUT_RDWR))
        close(ends[1])
        #expect(fixture.caller.reason == "process 4711 has ended")
    }

    // MARK: Names

    @Test
    func inspect_onlyANameOfItsOwn_isACleanedClaim() throws {
        let status = "4711 (a) S 1\n\u{202E}”) S 1 4711 4711 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 55 1 1"
        let caller = try ProcessFixture(stat: status).caller
        #expect(caller.process?.startTime == 55)
        #expect(caller.process?.commandName == "a) S 1  ’")
        #expect(caller.description == "a program that calls itself “a) S 1  ’” (process 4711)")
        #expect(caller.evidence == .commandName)
        #expect(caller.applicationIdentity == nil)
    }

    @Test
    func inspect_program_isNamedByItsFile() throws {
        let caller = try ProcessFixture(program: "/bin/true").caller
        #expect(caller.description == "“/bin/true” (process 4711)")
        #expect(caller.evidence == .systemProgram)
        #expect(caller.applicationIdentity == "program:/bin/true")
        #expect(caller.process?.script == nil)
    }

    @Test
    func inspect_programThatOthersMayChange_isTheUsersOwn() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("", to: "program")
        chmod(path, 0o777)
        let caller = try ProcessFixture(program: path).caller
        #expect(caller.evidence == .ownProgram)
        #expect(caller.description == "“\(path)” (process 4711)")
    }

    @Test
    func inspect_linkLeadsNowhere_isNoProgram() throws {
        for target in ["/nonexistent/program", "relative", "pipe:[1]"] {
            #expect(try ProcessFixture(program: target).caller.process?.program == nil)
        }
    }

    @Test
    func description_longAndHostilePath_isCutInTheMiddleAndCleaned() {
        let path = "/usr/bin/secret-tool\n" + String(repeating: "x/", count: 2000) + "\u{202E}evil"
        let process = CallerProcess(id: 1, startTime: 1, program: ProgramFile(path: path))
        #expect(process.text.english.unicodeScalars.count < 130)
        #expect(process.text.english.hasPrefix("“/usr/bin/secret-tool x/x/…"))
        #expect(process.text.english.hasSuffix("x/ evil” (process 1)"))
    }

    @Test
    func description_pathThatTellsAStory_staysInItsQuotationMarks() {
        let path = "/tmp/x” (process 1), as told by the system. “"
        let process = CallerProcess(id: 7, startTime: 1, program: ProgramFile(path: path))
        #expect(process.text.english == "“/tmp/x’ (process 1), as told by the system. ‘” (process 7)")
    }

    // MARK: Interpreters

    @Test(
        arguments: [
            ("/usr/bin/python3\0/home/u/backup.py\0--all", "/home/u/backup.py"),
            ("python3\0-W\0-u\0tool.py", "tool.py"),
            ("python3\0-m\0keyring\0get", "module keyring"),
            ("bash\0-c\0secret-tool lookup a b", nil),
            ("node\0-e\0code", nil),
            ("node", nil),
            ("", nil),
            ("python3\0-m", nil),
            ("python3\0\0x", nil),
        ] as [(String, String?)]
    )
    func inspect_interpreter_scriptIsAClaim(commandLine: String, script: String?) throws {
        let interpreter = "/usr/bin/python3"
        let caller = try ProcessFixture(program: interpreter, files: ["cmdline": commandLine]).caller
        #expect(caller.process?.script == script)
        #expect(caller.evidence == .interpreter)
        if let script {
            #expect(caller.description == "“\(interpreter)” (process 4711), which says that it runs “\(script)”")
            #expect(caller.applicationIdentity == "script:\(interpreter):\(script)")
        } else {
            #expect(caller.applicationIdentity == "program:\(interpreter)")
        }
    }

    @Test(
        arguments: [
            ("/usr/bin/python3.11", true), ("/usr/bin/node", true), ("/usr/bin/nodejs18", true), ("/bin/bash", true),
            ("/usr/bin/perl5.36.0", true), ("/usr/bin/lua5.4", true), ("/usr/bin/secret-tool", false),
            ("/usr/lib/chromium/chromium", false), ("/lib64/ld-linux-x86-64.so.2", true),
            ("/lib/ld-musl-x86_64.so.1", true),
            ("/lib/x86_64-linux-gnu/ld-2.31.so", true), ("/lib64/ld64.so.2", true), ("/usr/bin/ld.so", true),
            ("/usr/bin/ld", false), ("/usr/bin/ld.bfd", false), ("/usr/bin/qemu-x86_64-static", true),
            ("/usr/bin/python3.11-dbg", true), ("/usr/bin/wine64-preloader", true), ("/usr/bin/gdb", true),
            ("/usr/bin/env", true), ("/usr/bin/setsid", true), ("/usr/bin/bwrap", true), ("/usr/bin/systemd-run", true),
            ("/usr/libexec/valgrind/memcheck-amd64-linux", true), ("/usr/lib/jvm/java-17/bin/java", true),
            ("/usr/bin/guile-3.0", true), ("/usr/bin/envsubst", false), ("/usr/bin/timedatectl", false),
            ("/usr/bin/gnome-keyring-3", false), ("/usr/libexec/gcr-prompter", false), ("/opt/pythonic", false),
            ("/", false), ("", false),
        ]
    )
    func isInterpreter_isToldByTheName(path: String, isInterpreter: Bool) {
        #expect(ProgramFile(path: path).isInterpreter == isInterpreter)
    }

    // MARK: Units and sandboxes

    @Test(
        arguments: [
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-org.gnome.Maps-4711.scope",
                "org.gnome.Maps"
            ),
            ("0::/app.slice/app-org.gnome.Maps-4711.scope", "org.gnome.Maps"),
            ("0::/app.slice/app-flatpak-org.gnome.Maps-4711.scope", "org.gnome.Maps"),
            ("0::/app.slice/app-kde-my\\x2dapp@autostart.service", "my-app"),
            ("0::/app.slice/app-org.kde.kate@55.service/inner", "org.kde.kate"),
            ("0::/app.slice/app-x\\x0ay-1.scope", "x y"),
            ("12:pids:/x\n1:name=systemd:/user.slice/_app-firefox-1.scope\n0::/", "firefox"),
        ]
    )
    func inspect_unitOfAnApplication_hasItsID(groups: String, id: String) throws {
        let caller = try ProcessFixture(files: ["cgroup": groups + "\n"]).caller
        #expect(caller.process?.unit?.applicationID == id)
        #expect(caller.evidence == .unit)
        #expect(caller.applicationIdentity == "unit:\(id)")
    }

    @Test(
        arguments: [
            ("0::/user.slice/user-1000.slice/session-2.scope", "session-2.scope"),
            ("0::/system.slice/dbus.service", "dbus.service"),
            ("0::/app-broken\\xZZ-1.scope", "app-broken\\xZZ-1.scope"),
            ("0::/app-.scope", "app-.scope"),
            ("0::/app-a-b-c-d-1.scope", "app-a-b-c-d-1.scope"),
        ]
    )
    func inspect_otherUnit_hasNoApplication(groups: String, unit: String) throws {
        let caller = try ProcessFixture(files: ["cgroup": groups]).caller
        #expect(caller.process?.unit?.name == unit)
        #expect(caller.process?.unit?.applicationID == nil)
        #expect(caller.description == "a program in “\(unit)” (process 4711)")
        #expect(caller.applicationIdentity == "unit:\(unit)")
    }

    @Test(arguments: ["", "0::/", "0::", ":::::", "garbage", "0::/a.slice", "3:cpu:/app-firefox-1.scope"])
    func inspect_noUnit_isNone(groups: String) throws {
        #expect(try ProcessFixture(files: ["cgroup": groups]).caller.process?.unit == nil)
    }

    @Test
    func inspect_flatpak_isNamedByItsID() throws {
        let info = """
            [Instance]
            name=org.evil.Other
            instance-id=77

            [Application]
            name=org.gnome.Maps
            runtime=x

            """
        let fixture = try ProcessFixture(program: "/bin/true", files: ["root/.flatpak-info": info])
        _ = try fixture.folder.makeFolder("instances/77")
        try fixture.folder.write(info, to: "instances/77/info")
        let caller = fixture.caller
        #expect(caller.description == "Flatpak org.gnome.Maps")
        #expect(caller.evidence == .sandboxFile)
        #expect(caller.applicationIdentity == "flatpak:org.gnome.Maps")
    }

    @Test(
        arguments: [
            "", "[Application]", "name=org.gnome.Maps", "[Application]\nname=", "[Application]\nname=maps",
            "[Application]\nname=org.gnome.Maps (process 1)", "[Application]\nname=a.\u{202E}b",
            "[Application]\nname=a." + String(repeating: "b", count: 300), "[Runtime]\nname=org.gnome.Platform",
        ]
    )
    func inspect_flatpakFileIsGarbage_isAnUnnamedSandbox(info: String) throws {
        let caller = try ProcessFixture(program: "/bin/true", files: ["root/.flatpak-info": info]).caller
        #expect(caller.process?.sandbox == .unnamed)
        #expect(caller.applicationIdentity == nil)
        #expect(caller.description == "a sandbox without a proven name")
    }

    @Test
    func inspect_flatpakFileIsALink_isNotFollowed() throws {
        let info = "[Instance]\ninstance-id=77\n[Application]\nname=org.gnome.Maps"
        let fixture = try ProcessFixture(program: "/bin/true", files: ["x": info])
        _ = try fixture.folder.makeFolder("instances/77")
        try fixture.folder.write(info, to: "instances/77/info")
        try FileManager.default.createSymbolicLink(
            atPath: fixture.folder.path("4711/root/.flatpak-info"),
            withDestinationPath: fixture.folder.path("4711/x")
        )
        #expect(fixture.caller.process?.sandbox == .unnamed)
    }

    @Test
    func inspect_snapByItsLabel_restsOnTheKernel() throws {
        var fixture = try ProcessFixture(program: "/bin/true")
        fixture.credentials.securityLabel = "snap.firefox.firefox (enforce)"
        #expect(fixture.caller.description == "Snap firefox")
        #expect(fixture.caller.evidence == .securityLabel)
        #expect(fixture.caller.applicationIdentity == "snap:firefox")
    }

    @Test(
        arguments: [
            "unconfined", "", "snap.firefox.firefox (complain)", "snap.a b.x (enforce)", "chrome (unconfined)",
            "unconfined (enforce)", "a\nb (enforce)",
        ]
    )
    func inspect_otherLabel_isNoSandbox(label: String) throws {
        var fixture = try ProcessFixture(program: "/bin/true")
        fixture.credentials.securityLabel = label
        #expect(fixture.caller.process?.sandbox == nil)
    }

    @Test
    func inspect_snapByItsUnit_restsOnTheControlGroup() throws {
        let group = "0::/user.slice/app.slice/snap.firefox.firefox-6c8d1ba3.scope"
        let caller = try ProcessFixture(program: "/bin/true", files: ["cgroup": group]).caller
        #expect(caller.description == "Snap firefox")
        #expect(caller.evidence == .controlGroup)
    }

    @Test(arguments: CallerEvidence.allCases)
    func evidence_everyKind_isExplained(evidence: CallerEvidence) {
        #expect(!evidence.explanation.english.isEmpty)
    }
}
