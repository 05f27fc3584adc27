import Desktop
import Glibc
import Rights

/// Looks into the processes that show dialogs, and into the session bus.
///
/// Blocks: what it reads in /proc takes as long as the process likes. So this is for a thread that nobody waits for.
package struct PrompterExamination: Sendable {
    /// The session bus, as its socket and it itself tell.
    package struct Bus: Hashable, Sendable {
        /// The process that has opened the socket.
        package let listener: Int32

        /// The process that the bus says it is; nil if it does not say.
        package let daemon: Int32?

        /// Puts the two together.
        package init(listener: Int32, daemon: Int32?) {
            self.listener = listener
            self.daemon = daemon
        }
    }

    private let root: String
    private let userID: UInt32
    private let serviceFolders: [String]

    /// - Parameters:
    ///   - root: where the processes are, if not in /proc.
    ///   - userID: the user whose session it is.
    ///   - serviceFolders: where the system's files are that name the programs of bus names.
    package init(
        root: String = "/proc",
        userID: UInt32 = getuid(),
        serviceFolders: [String] = ["/usr/share/dbus-1/services", "/usr/local/share/dbus-1/services"]
    ) {
        self.root = root
        self.userID = userID
        self.serviceFolders = serviceFolders
    }

    /// How far to trust the owner of a bus name.
    package func trust(inOwner id: Int32, of busName: String, on bus: Bus) -> PrompterTrust {
        judge { () throws(Objection) in
            try examineBus(bus)
            try examine(id, environment: true) { (process) throws(Objection) in
                guard isPrompter(process.program, of: busName) else {
                    throw Objection("\(process.program) is no known prompter")
                }
                guard isStarter(process.status.parentID, on: bus) else {
                    throw Objection("it was not started by the session")
                }
            }
        }
    }

    /// How far to trust a program that this process has started.
    package func trust(inChild id: Int32) -> PrompterTrust {
        judge { () throws(Objection) in
            try examine(id, environment: true) { (process) throws(Objection) in
                guard process.status.parentID == getpid() else { throw Objection("it has ended") }
            }
        }
    }

    /// Examines with the user's rights: the kernel shows a process's files to who has its user and its group.
    private func judge(_ examine: () throws(Objection) -> Void) -> PrompterTrust {
        do throws(Objection) {
            try UserRights.perform(examine)
            return .trusted
        } catch {
            return .passwordsOnly(reason: error.reason)
        }
    }

    // MARK: Looking

    private struct Objection: Error {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    /// What was found out of a process that runs system code only.
    private struct Examined {
        let status: ProcessStatus
        let program: ProgramFile
    }

    /// The bus has what it tells, and whom it passes messages to, in its hands.
    ///
    /// Where the user manager has opened the socket, as it does for a service, the bus's own word for its process has
    /// to do.
    private func examineBus(_ bus: Bus) throws(Objection) {
        let isManagers = isUserManager(bus.listener)
        guard let daemon = isManagers ? bus.daemon : bus.listener else {
            throw Objection("the session bus cannot be seen")
        }
        do throws(Objection) {
            try examine(daemon, environment: false) { (process) throws(Objection) in
                guard PrompterExamination.buses.contains(process.program.name) else {
                    throw Objection("\(process.program) is no known bus")
                }
                if isManagers, process.status.parentID != bus.listener { try examineLauncher(process.status.parentID) }
            }
        } catch {
            throw Objection("the session bus is not trusted: \(error.reason)")
        }
    }

    /// dbus-broker is started by a launcher of its own.
    private func examineLauncher(_ id: Int32) throws(Objection) {
        try examine(id, environment: false) { (process) throws(Objection) in
            guard process.program.name == "dbus-broker-launch", isUserManager(process.status.parentID) else {
                throw Objection("the session has not started it")
            }
        }
    }

    /// Looks at what every process has to fulfil, and has more checked, between two looks at which process it is.
    private func examine(
        _ id: Int32,
        environment: Bool,
        _ check: (Examined) throws(Objection) -> Void
    ) throws(Objection) {
        let folder = ProcessFolder(id, in: root)
        guard let status = status(of: folder) else { throw Objection("process \(id) has ended or cannot be seen") }
        guard "RSDI".contains(status.state) else { throw Objection("it is stopped") }
        guard let tracer = ProcessCredentials(folder)?.tracerID else { throw Objection("it cannot be seen") }
        guard tracer == 0 else { throw Objection("process \(tracer) traces it") }
        guard let own = ProcessFolder("self", in: root).link("ns/user"), folder.link("ns/user") == own else {
            throw Objection("it is in a user namespace of its own, or cannot be seen")
        }
        guard let program = ProgramFile(of: folder) else { throw Objection("its program cannot be seen") }
        guard program.place == .present, program.isProtected else { throw Objection("\(program) is no system program") }
        guard !program.isInterpreter else { throw Objection("\(program) runs other programs") }
        guard let code = folder.read("maps", limit: MappedCode.longest).flatMap(MappedCode.init) else {
            throw Objection("its code cannot be seen")
        }
        if let objection = code.objection { throw Objection(objection) }
        if environment, let objection = PrompterEnvironment.objection(in: folder) { throw Objection(objection) }
        try check(Examined(status: status, program: program))
        guard let after = self.status(of: folder), after.startTime == status.startTime,
            after.parentID == status.parentID
        else { throw Objection("process \(id) has ended") }
    }

    private func status(of folder: ProcessFolder) -> ProcessStatus? {
        folder.read("stat", limit: ProcessStatus.longest).flatMap(ProcessStatus.init)
    }

    // MARK: The session

    /// Whether a process starts programs for the session: the bus, its helper of the moment, or the user manager.
    ///
    /// dbus-daemon's helper ends once the program has taken its name, which leaves that to the user manager or, where
    /// there is none above, to the system's first process. So may every program; what is told here is that none of them
    /// has kept it.
    private func isStarter(_ id: Int32, on bus: Bus) -> Bool {
        let buses = [bus.listener, bus.daemon].compactMap(\.self)
        if id == 1 || buses.contains(id) || isUserManager(id) { return true }
        // dbus-daemon forks, and its child starts the program.
        let folder = ProcessFolder(id, in: root)
        guard let status = status(of: folder), buses.contains(status.parentID),
            let program = ProgramFile(of: folder)
        else { return false }
        return program == ProgramFile(of: ProcessFolder(status.parentID, in: root))
    }

    /// Whether a process is the user's instance of systemd.
    ///
    /// Its program file may not be visible, as it has a capability that this process does not have. But only the
    /// system's instance can start a process, as its own child, in that control group: those of the user are children
    /// of the user's.
    private func isUserManager(_ id: Int32) -> Bool {
        let folder = ProcessFolder(id, in: root)
        guard let status = status(of: folder), status.parentID == 1,
            let credentials = ProcessCredentials(folder), credentials.userIDs == [userID],
            let groups = folder.read("cgroup", limit: PrompterExamination.longestFile)
        else { return false }
        if let program = ProgramFile(of: folder), program.place != .present || !program.isProtected { return false }
        let group = "/user@\(userID).service/init.scope"
        return String(decoding: groups, as: UTF8.self).split(separator: "\n").contains { line in
            (line.hasPrefix("0::") || line.contains(":name=systemd:")) && line.hasSuffix(group)
        }
    }

    /// Whether a program is the one that the system's file for the bus name starts, or a desktop's shell, which needs
    /// no such file.
    private func isPrompter(_ program: ProgramFile, of busName: String) -> Bool {
        if PrompterExamination.shells.contains(program.name) { return true }
        guard let file = ProcessFolder.status(at: program.path) else { return false }
        return serviceFolders.contains { folder in
            var protection = FileProtection()
            let path = "\(folder)/\(busName).service"
            guard protection.protects(path), let command = PrompterExamination.command(inServiceFile: path),
                let named = ProcessFolder.status(at: command)
            else { return false }
            return named.st_dev == file.st_dev && named.st_ino == file.st_ino
        }
    }

    /// The program in the line `Exec=PROGRAM ARGUMENTS`.
    private static func command(inServiceFile path: String) -> String? {
        guard let content = ProcessFolder.read(path, limit: longestFile) else { return nil }
        let line = String(decoding: content, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Exec=") }
        return line?.dropFirst("Exec=".count).split(separator: " ").first.map(String.init)
    }

    private static let buses: Set<String> = ["dbus-broker", "dbus-daemon"]
    private static let shells: Set<String> = ["gnome-shell", "phosh"]
    /// How much of a small file is read, in bytes.
    private static let longestFile = 16 << 10
}

/// Judges the environment that a prompter was started in.
enum PrompterEnvironment {
    /// Why the program may run other code than its own, or show its dialog where nobody sees it; nil if nothing speaks
    /// for that.
    static func objection(in folder: ProcessFolder) -> String? {
        guard let content = folder.read("environ", limit: longest), content.count < longest else {
            return "its environment cannot be seen"
        }
        for variable in content.split(separator: 0) {
            let pair = String(decoding: variable, as: UTF8.self).split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let name = String(pair[0])
            if isHostile(name, pair[1]) { return "it was started with \(PromptText.name(name)) in its environment" }
        }
        return nil
    }

    private static func isHostile(_ name: String, _ value: Substring) -> Bool {
        if name.hasPrefix("LD_") || codeNames.contains(name) { return true }
        if name == "BROADWAY_DISPLAY" { return true }
        guard let screens = screens[name] else { return false }
        return !value.split { $0 == "," || $0 == ";" }
            .allSatisfy { choice in
                screens.contains { choice == $0 || choice.hasPrefix($0 + ":") || choice.hasPrefix($0 + "-") }
            }
    }

    /// What has programs load code, beside the dynamic loader's own variables.
    private static let codeNames: Set<String> = [
        "GBM_BACKENDS_PATH", "GCONV_PATH", "GDK_PIXBUF_MODULEDIR", "GDK_PIXBUF_MODULE_FILE", "GIO_EXTRA_MODULES",
        "GIO_MODULE_DIR", "GI_TYPELIB_PATH", "GJS_PATH", "GTK3_MODULES", "GTK_DATA_PREFIX", "GTK_EXE_PREFIX",
        "GTK_IM_MODULE_FILE", "GTK_MODULES", "GTK_PATH", "LIBGL_DRIVERS_PATH", "LOCPATH", "PANGO_RC_FILE",
        "QML2_IMPORT_PATH", "QML_IMPORT_PATH", "QT_PLUGIN_PATH", "QT_QPA_GENERIC_PLUGINS",
        "QT_QPA_PLATFORM_PLUGIN_PATH", "VK_ADD_LAYER_PATH", "VK_DRIVER_FILES", "VK_ICD_FILENAMES",
        "VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "__EGL_VENDOR_LIBRARY_DIRS", "__EGL_VENDOR_LIBRARY_FILENAMES",
    ]

    /// What says where windows are shown, with the places that are screens.
    private static let screens: [String: Set<String>] = [
        "GDK_BACKEND": ["*", "wayland", "x11"],
        "QT_QPA_PLATFORM": ["wayland", "xcb"],
    ]

    /// How much is read, in bytes: more than environments have.
    private static let longest = 2 << 20
}
