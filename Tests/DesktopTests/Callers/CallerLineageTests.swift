import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindTestSupport
import Testing

/// The programs around a caller, in a made-up /proc and in real processes.
struct CallerLineageTests {
    // MARK: The program behind a helper

    @Test
    func name_helper_isTheProgramBehindIt() throws {
        let tree = try ProcessTree()
        try tree.add(10, "gio", parent: 9, session: 7)
        try tree.add(9, "dash", parent: 8, session: 7, commandLine: "sh\0-c\0gio")
        try tree.add(8, "git", parent: 7, session: 7)
        try tree.add(7, "bash", parent: 1, isLeader: true)
        let caller = tree.caller(10)
        #expect(caller.name == .installed("git"))
        #expect(caller.fullName.english == "git, through gio")
        #expect(caller.circumstances.english == "Through gio.")
        #expect(caller.details.english.hasSuffix(" git seems to have started it, but this cannot be verified."))
        #expect(
            caller.details.english.hasPrefix(
                "“\(tree.program("gio"))” (process 10), which only an administrator"
            )
        )
        // What is stored and compared is the caller alone.
        #expect(caller.description == "“\(tree.program("gio"))” (process 10)")
        #expect(caller.applicationIdentity == "program:\(tree.program("gio"))")
    }

    @Test
    func name_programThatIsNoHelper_isItsOwn() throws {
        let tree = try ProcessTree()
        try tree.add(10, "git", parent: 9)
        try tree.add(9, "gio", parent: 1, isLeader: true)
        #expect(tree.caller(10).fullName.english == "git")
        #expect(tree.caller(10).details.english.hasSuffix("change."))
    }

    @Test
    func name_helperInAShell_isTheHelper() throws {
        let tree = try ProcessTree()
        try tree.add(10, "gio", parent: 9)
        try tree.add(9, "bash", parent: 8, isLeader: true)
        try tree.add(8, "git", parent: 1, isLeader: true)
        #expect(tree.caller(10).fullName.english == "gio")
    }

    @Test
    func name_script_isQuotedAndCleaned() throws {
        let tree = try ProcessTree()
        try tree.add(10, "gio", parent: 9)
        try tree.add(9, "bash", parent: 1, commandLine: "bash\0/home/u/git” wants\n\u{202E}x", isLeader: true)
        #expect(tree.caller(10).name.subject.english == "The script “git’ wants  x”")
        #expect(tree.caller(10).surroundings.english == "through gio")
    }

    /// Only the name of a program that root alone can change goes without its path.
    @Test
    func name_programOfTheUser_isItsPathInQuotationMarks() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("", to: "git")
        chmod(path, 0o777)
        let tree = try ProcessTree()
        try tree.add(10, "gio", parent: 9)
        try tree.add(9, program: path, parent: 1, isLeader: true)
        #expect(tree.caller(10).name.text.english == "the program “\(path)”")
        let library = "7f00-7f01 r-xp 00000000 00:00 1  \(path)\n"
        try tree.add(12, "git", parent: 1, isLeader: true, maps: library)
        #expect(tree.caller(12).name.text.english == "the program “\(tree.program("git"))”")
    }

    // MARK: False and broken chains

    @Test(arguments: ["other user", "zombie", "younger", "manager", "other session", "garbage", "missing"])
    func name_parentThatCannotBeMeant_isNotFollowed(kind: String) throws {
        let tree = try ProcessTree()
        try tree.add(10, "gio", parent: 9)
        switch kind {
        case "other user": try tree.add(9, "git", parent: 1, userID: geteuid() + 1, isLeader: true)
        case "zombie": try tree.add(9, "git", parent: 1, state: "Z", isLeader: true)
        case "younger": try tree.add(9, "git", parent: 1, startTime: 101, isLeader: true)
        case "manager": try tree.add(9, nil, parent: 1, commandName: "systemd", isLeader: true)
        case "other session": try tree.add(9, "git", parent: 1, session: 5)
        case "garbage":
            _ = try tree.folder.makeFolder("9")
            try tree.folder.write("9 (git", to: "9/stat")
        default: break
        }
        #expect(tree.caller(10).fullName.english == "gio")
        #expect(tree.caller(10).details.english.hasSuffix("change."))
    }

    @Test
    func name_endlessChainOrLoop_ends() throws {
        let tree = try ProcessTree()
        for id in Int32(2)...200 { try tree.add(id, "gio", parent: id - 1, session: 1) }
        #expect(tree.caller(200).name == .installed("gio"))
        try tree.add(300, "gio", parent: 301, session: 1)
        try tree.add(301, "gio", parent: 300, session: 1)
        #expect(tree.caller(300).name == .installed("gio"))
    }

    // MARK: The terminal

    @Test
    func place_terminalWithADesktopEntry_hasItsName() throws {
        let tree = try ProcessTree()
        let name = "Term ”\u{202E}"
        let entry = "[Desktop Entry]\nName[de]=No\nName=\(name)\nExec=/usr/bin/git %u\n[Desktop Action x]\nName=No\n"
        try tree.entry("git-terminal", entry)
        try tree.add(10, "gio", parent: 9, terminal: 34816)
        try tree.add(9, "bash", parent: 8, terminal: 34816, isLeader: true)
        try tree.add(8, "git", parent: 1, isLeader: true, unit: "app-gnome-git\\x2dterminal-8.scope")
        #expect(tree.caller(10).fullName.english == "gio, in Term ’ ")
        let details = tree.caller(10).details.english
        #expect(details.hasSuffix(" Term ’  seems to have started it, but this cannot be verified."))
    }

    @Test
    func place_unitOfAnotherProgram_givesNoName() throws {
        let tree = try ProcessTree()
        try tree.entry("firefox", "[Desktop Entry]\nName=Firefox\nExec=firefox\n")
        try tree.add(10, "git", parent: 1, isLeader: true, unit: "app-gnome-firefox-8.scope")
        #expect(tree.caller(10).fullName.english == "git")
        try tree.add(11, "git", parent: 1, isLeader: true, unit: "app-gnome-..\\x2f..\\x2fx-8.scope")
        #expect(tree.caller(11).fullName.english == "git")
    }

    // MARK: Real processes

    /// A command that prints a line when it runs, and stays until it is killed.
    private static func sleeper(after statement: String = "pass") -> String {
        #"/usr/bin/python3 -c "import os, time; \#(statement); print(os.getpid(), flush=True); time.sleep(1000)""#
    }

    private func inspect(_ id: Int32) -> Caller {
        var credentials = ConnectionCredentials()
        credentials.processID = UInt32(id)
        return Caller(uniqueName: ":1.1", insight: ProcessInspector().insight(into: credentials))
    }

    private func start(_ program: String, _ arguments: [String]) async throws -> (ChildProcess, Int32) {
        let process = try ChildProcess(program, arguments)
        let line = try await process.standardOutput.lines.first("its id") { Int32($0.filter(\.isNumber)) != nil }
        return (process, try #require(Int32(line.filter(\.isNumber))))
    }

    @Test
    func name_pythonStartedByGit_isGit() async throws {
        // In a group of its own it outlives git's, which ends with git.
        let alias = "alias.x=!\(CallerLineageTests.sleeper(after: "os.setpgid(0, 0)")); :"
        let (git, id) = try await start("/usr/bin/git", ["-c", alias, "x"])
        defer { kill(id, SIGKILL) }
        let caller = inspect(id)
        #expect(caller.name == .installed("git"), "\(caller.fullName.english)")
        #expect(caller.surroundings.english.hasPrefix("through python3"))
        // The parents end, and the kernel gives the child another.
        let shellID = try parentID(of: id)
        try await git.kill()
        try await eventually("another parent") { try parentID(of: id) != shellID }
        #expect(inspect(id).name != .installed("git"))
    }

    private func parentID(of id: Int32) throws -> Int32 {
        try #require(ProcessStatus(ProcessFolder(id, in: "/proc").read("stat", limit: 2048) ?? [])).parentID
    }

    @Test
    func place_terminalOfScript_isThatProgram() async throws {
        let (script, id) = try await start("/usr/bin/script", ["-qfec", CallerLineageTests.sleeper(), "/dev/null"])
        defer {
            kill(id, SIGKILL)
            kill(script.id, SIGKILL)
        }
        #expect(inspect(id).surroundings.english == "in script")
    }
}

/// A made-up /proc with several processes, which run programs of this system.
struct ProcessTree {
    let folder: TemporaryFolder
    private let entries: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        entries = try TemporaryFolder()
    }

    /// The path of a program.
    func program(_ name: String) -> String {
        URL(fileURLWithPath: "/usr/bin/\(name)").resolvingSymlinksInPath().path
    }

    /// - Parameter isLeader: whether it leads a session of its own.
    func add(
        _ id: Int32,
        _ name: String? = nil,
        program path: String? = nil,
        parent: Int32,
        commandName: String = "name",
        state: String = "S",
        userID: UInt32 = geteuid(),
        startTime: UInt64 = 100,
        session: Int32 = 9,
        terminal: Int32 = 0,
        commandLine: String = "",
        isLeader: Bool = false,
        unit: String? = nil,
        maps: String = ProcessFixture.maps
    ) throws {
        _ = try folder.makeFolder("\(id)/root")
        let session = isLeader ? id : session
        let fields = "\(state) \(parent) \(id) \(session) \(terminal) -1 0 1 0 0 0 0 0 0 0 20 0 1 0 \(startTime) 1 1"
        try folder.write("\(id) (\(commandName)) \(fields)", to: "\(id)/stat")
        let users = [userID, userID, userID, userID].map(String.init).joined(separator: "\t")
        try folder.write("Name:\tx\nTracerPid:\t0\nUid:\t\(users)\n", to: "\(id)/status")
        try folder.write(maps, to: "\(id)/maps")
        try folder.write(commandLine, to: "\(id)/cmdline")
        if let unit { try folder.write("0::/user.slice/app.slice/\(unit)\n", to: "\(id)/cgroup") }
        guard let target = path ?? name.map(program) else { return }
        try FileManager.default.createSymbolicLink(atPath: folder.path("\(id)/exe"), withDestinationPath: target)
    }

    func entry(_ id: String, _ content: String) throws {
        try entries.write(content, to: "\(id).desktop")
    }

    func caller(_ id: Int32) -> Caller {
        var credentials = ConnectionCredentials()
        credentials.processID = UInt32(id)
        let inspector = ProcessInspector(root: folder.path, entries: DesktopEntries(folders: [entries.path]))
        return Caller(uniqueName: ":1.1", insight: inspector.insight(into: credentials))
    }
}
