import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// What the connections of one program have in common.
struct ProgramTests {
    private func caller(
        _ connection: String = ":1.1",
        id: Int32 = 1,
        program: ProgramFile? = ProgramFile(path: "/usr/bin/python3"),
        script: String? = nil,
        unit: String? = nil,
        sandbox: Sandbox? = nil
    ) -> Program {
        let groups = unit.map { "0::\($0)\n" } ?? ""
        let process = CallerProcess(
            id: id,
            startTime: 1,
            program: program,
            script: script,
            unit: SystemdUnit(controlGroups: Array(groups.utf8)),
            sandbox: sandbox
        )
        return Program(of: Caller(uniqueName: connection, insight: .process(process)))
    }

    private let manager = "/user.slice/user-1000.slice/user@1000.service"

    @Test func sandbox_isOneProgram_whateverItsUnitsAndFiles() {
        let one = caller(unit: "\(manager)/app.slice/one.scope", sandbox: .flatpak("org.example.Maps"))
        let other = caller(":1.2", id: 2, program: nil, sandbox: .flatpak("org.example.Maps"))
        #expect(one == other)
        #expect(one != caller(sandbox: .flatpak("org.example.Chat")))
    }

    @Test func unitOfTheUsersManager_isOneProgram() {
        let slice = "\(manager)/app.slice"
        let one = caller(unit: "\(slice)/app-gnome-firefox-1.scope")
        let second = ProgramFile(path: "/usr/lib/firefox/plugin")
        #expect(one == caller(":1.2", id: 2, program: second, unit: "\(slice)/app-gnome-firefox-2.scope"))
        #expect(one != caller(unit: "\(slice)/app-gnome-chat-1.scope"))
        #expect(caller(unit: "\(slice)/one.service") != caller(unit: "\(slice)/two.service"))
    }

    @Test(
        arguments: [
            "/user.slice/user-1000.slice/session-3.scope", "/user.slice/user-1000.slice/user@1000.service/init.scope",
            "/user.slice/user-1000.slice/user@1000.service/session.slice/dbus.service",
            "/user.slice/user-1000.slice/user@1000.service", "/",
        ]
    )
    func unitOfManyPrograms_filesAndScriptsTellThemApart(_ unit: String) {
        let one = caller(script: "/usr/bin/one", unit: unit)
        #expect(one == caller(":1.2", id: 2, script: "/usr/bin/one", unit: unit))
        #expect(one != caller(script: "/usr/bin/two", unit: unit))
        #expect(one != caller(program: ProgramFile(path: "/usr/bin/git"), script: "/usr/bin/one", unit: unit))
        let foreign = ProgramFile(path: "/usr/bin/python3", place: .foreign, isProtected: false)
        #expect(one != caller(program: foreign, script: "/usr/bin/one", unit: unit))
        let replaced = ProgramFile(path: "/usr/bin/python3", place: .deleted, isProtected: false)
        #expect(one == caller(program: replaced, script: "/usr/bin/one", unit: unit))
    }

    @Test func processWithoutAFile_isOneProgram() {
        #expect(caller(program: nil) == caller(":1.2", program: nil))
        #expect(caller(program: nil) != caller(":1.2", id: 2, program: nil))
    }

    @Test func unknownProcess_isTheConnectionAlone() {
        let one = Program(of: .opaque(":1.1", reason: "it has ended"))
        #expect(one == .connection(":1.1"))
        #expect(one != Program(of: .opaque(":1.2", reason: "it has ended")))
    }
}
