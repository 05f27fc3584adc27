import Glibc
package import KeychaindDBus
import KeychaindLanguage
import KeychaindRights

/// Inspects the process behind a connection.
package struct ProcessInspector: Sendable {
    private let root: String
    private let entries: DesktopEntries
    private let confinements: ConfinementFinder

    /// - Parameters:
    ///   - root: the process folder instead of /proc.
    ///   - entries: replaced in tests.
    ///   - confinements: finds sandboxes; by default in the same process folder.
    package init(
        root: String = "/proc",
        entries: DesktopEntries = DesktopEntries(),
        confinements: ConfinementFinder? = nil
    ) {
        self.root = root
        self.entries = entries
        self.confinements = confinements ?? ConfinementFinder(root: root)
    }

    /// Inspects a process as far as it is visible; throws if the system is short of what that takes.
    ///
    /// Blocks, as a process with its own file system can delay reads.
    package func inspect(_ credentials: ConnectionCredentials) throws(ExaminationObstacle) -> Caller.Insight {
        try UserRights.perform { () throws(ExaminationObstacle) in try look(at: credentials) }
    }

    private func look(at credentials: ConnectionCredentials) throws(ExaminationObstacle) -> Caller.Insight {
        guard let processID = credentials.processID else {
            return .opaque(reason: Text("the bus does not report its process"))
        }
        guard processID > 0, let id = Int32(exactly: processID) else {
            return .opaque(reason: Text("its process is hidden, as in another container"))
        }
        let folder = ProcessFolder(id, in: root)
        guard let status = try ProcessStatus(of: folder) else {
            return .opaque(reason: Text("process \(id) has ended or cannot be seen"))
        }
        var process = try look(into: folder, id, status, credentials) { (unit) throws(ExaminationObstacle) in
            try sandbox(of: credentials, unit)
        }
        process.lineage = lineage(of: process, status)
        process.locale = CallerLocale.read(of: folder)
        // If the id was reused meanwhile, some of the data may be of the other process.
        guard try ProcessStatus(of: folder)?.startTime == status.startTime, credentials.isRunning else {
            return .opaque(reason: Text("process \(id) has ended"))
        }
        return .process(process)
    }

    /// Whether the id still belongs to the inspected process, with the same program; does not block.
    package func isSame(_ process: CallerProcess) throws(ExaminationObstacle) -> Bool {
        let folder = ProcessFolder(process.id, in: root)
        var status = try ProcessStatus(of: folder)
        // This file is readable by all, unless /proc hides processes.
        if status == nil {
            status = try UserRights.perform { () throws(ExaminationObstacle) in try ProcessStatus(of: folder) }
        }
        guard let status, status.startTime == process.startTime, status.state != "Z", status.state != "X" else {
            return false
        }
        // A process that has executed another program may still have the connection.
        guard let program = process.program, let path = folder.link("exe") ?? UserRights.perform({ folder.link("exe") })
        else { return true }
        return path == program.path || path == program.path + " (deleted)"
    }

    // MARK: Looking

    private func lineage(of process: CallerProcess, _ status: ProcessStatus) -> CallerLineage {
        let finder = LineageFinder(root: root, entries: entries, userID: geteuid()) { id, status in
            look(into: ProcessFolder(id, in: root), id, status, ConnectionCredentials()) { unit in
                // Only for the names of parents, which prove nothing.
                ProcessFolder(id, in: root).read("root/\(FlatpakInfo.name)", limit: FlatpakInfo.longest)
                    .flatMap { Sandbox(flatpakInfo: $0) } ?? unit.flatMap(Sandbox.init(unit:))
            }
        }
        return finder.lineage(of: process, status)
    }

    private func look<Failure: Error>(
        into folder: ProcessFolder,
        _ id: Int32,
        _ status: ProcessStatus,
        _ credentials: ConnectionCredentials,
        sandbox: (SystemdUnit?) throws(Failure) -> Sandbox?
    ) throws(Failure) -> CallerProcess {
        let program = ProgramFile(of: folder)
        let unit = folder.read("cgroup", limit: ProcessInspector.longestFile).flatMap(SystemdUnit.init(controlGroups:))
        let isInterpreter = program?.isInterpreter ?? false
        return CallerProcess(
            id: id,
            startTime: status.startTime,
            isHeldByBus: credentials.processDescriptor != nil,
            commandName: status.commandName,
            program: program,
            code: folder.read("maps", limit: MappedCode.longest).flatMap(MappedCode.init)?.origin ?? .unseen,
            script: isInterpreter ? script(of: folder, program) : nil,
            unit: unit,
            sandbox: try sandbox(unit)
        )
    }

    private func sandbox(
        of credentials: ConnectionCredentials,
        _ unit: SystemdUnit?
    ) throws(ExaminationObstacle) -> Sandbox? {
        switch try confinements.find(credentials, into: .all) {
        case .sandbox(let sandbox): sandbox
        case .unknown: .unnamed
        case .none: unit.flatMap(Sandbox.init(unit:))
        }
    }

    private func script(of folder: ProcessFolder, _ program: ProgramFile?) -> String? {
        guard let commandLine = folder.read("cmdline", limit: ScriptClaim.longest) else { return nil }
        return ScriptClaim.find(in: commandLine, isLoader: program?.isLoader ?? false)
    }

    /// In bytes.
    private static let longestFile = 16 << 10
}

extension ConnectionCredentials {
    /// Whether the process descriptor that the bus passed is not readable (pidfd_open(2)); true without one.
    package var isRunning: Bool {
        guard let processDescriptor else { return true }
        var entry = pollfd(fd: processDescriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}

/// The script that an interpreter's command line claims; a process may overwrite it at any time.
enum ScriptClaim {
    /// Finds the first argument in `/proc/PID/cmdline` that is no option.
    ///
    /// Nil if there is none, or if the program itself is on the command line. May return the value of an option, as
    /// this is only a claim.
    ///
    /// - Parameter isLoader: whether the interpreter is the dynamic loader, which has other options.
    static func find(in commandLine: [UInt8], isLoader: Bool = false) -> String? {
        var arguments = commandLine.split(separator: 0, omittingEmptySubsequences: false).dropFirst()
            .map { String(decoding: $0, as: UTF8.self) }[...]
        while let argument = arguments.popFirst() {
            switch argument {
            case _ where isLoader && loaderOptions.contains(argument): _ = arguments.popFirst()
            case "-c", "-e", "--eval", "--command", "": return nil
            case "-m": return arguments.first.flatMap { $0.isEmpty ? nil : "module \($0)" }
            case _ where argument.hasPrefix("-"): continue
            default: return argument
            }
        }
        return nil
    }

    /// The options of the dynamic loader that take a value (ld.so(8)).
    private static let loaderOptions: Set<String> = [
        "--argv0", "--audit", "--glibc-hwcaps-mask", "--glibc-hwcaps-prepend", "--inhibit-rpath", "--library-path",
        "--preload",
    ]

    /// In bytes.
    static let longest = 4096
}
