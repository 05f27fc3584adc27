import Glibc
import KeychaindDesktop
import KeychaindRights

/// Examines the processes that show dialogs, and the session bus.
///
/// Blocks, as a process can delay reads of its /proc files.
package struct PrompterExamination: Sendable {
    package struct Bus: Hashable, Sendable {
        /// The process that opened the socket.
        package let listener: Int32

        /// The process that the bus names, if any.
        package let daemon: Int32?

        package init(listener: Int32, daemon: Int32?) {
            self.listener = listener
            self.daemon = daemon
        }
    }

    private let root: String
    private let userID: UInt32
    private let serviceFolders: [String]

    /// - Parameters:
    ///   - root: the process folder instead of /proc.
    ///   - userID: the owner of the session.
    ///   - serviceFolders: the system's D-Bus service files, which name the programs of bus names.
    package init(
        root: String = "/proc",
        userID: UInt32 = getuid(),
        serviceFolders: [String] = ["/usr/share/dbus-1/services", "/usr/local/share/dbus-1/services"]
    ) {
        self.root = root
        self.userID = userID
        self.serviceFolders = serviceFolders
    }

    /// Returns the trust in the owner of a bus name.
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

    /// Returns the trust in a child of this process.
    package func trust(inChild id: Int32) -> PrompterTrust {
        judge { () throws(Objection) in
            try examine(id, environment: true) { (process) throws(Objection) in
                guard process.status.parentID == getpid() else { throw Objection("it has ended") }
            }
        }
    }

    /// Examines with the user's rights, as the kernel shows a process's files only to its user and group.
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

    /// A process that runs only system code.
    private struct Examined {
        let status: ProcessStatus
        let program: ProgramFile
    }

    /// Examines the bus, which controls all messages.
    ///
    /// If the user manager opened the socket, as for a service, examines the process that the bus names.
    private func examineBus(_ bus: Bus) throws(Objection) {
        let isManagers = isUserManager(bus.listener)
        guard let daemon = isManagers ? bus.daemon.map(broker) : bus.listener else {
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

    /// The child of dbus-broker's launcher that passes the messages, or the process itself if it is no launcher.
    ///
    /// dbus-broker names its launcher as the process of the bus.
    private func broker(of id: Int32) -> Int32 {
        let folder = ProcessFolder(id, in: root)
        guard ProgramFile(of: folder)?.name == "dbus-broker-launch",
            let children = folder.read("task/\(id)/children", limit: PrompterExamination.longestFile)
        else { return id }
        let ids = String(decoding: children, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        return ids.first { ProgramFile(of: ProcessFolder($0, in: root))?.name == "dbus-broker" } ?? id
    }

    private func examineLauncher(_ id: Int32) throws(Objection) {
        try examine(id, environment: false) { (process) throws(Objection) in
            guard process.program.name == "dbus-broker-launch", isUserManager(process.status.parentID) else {
                throw Objection("it was not started by the session")
            }
        }
    }

    /// Checks the rules for every process, then the given ones, and that the process stayed the same.
    private func examine(
        _ id: Int32,
        environment: Bool,
        _ check: (Examined) throws(Objection) -> Void
    ) throws(Objection) {
        let folder = ProcessFolder(id, in: root)
        guard let status = folder.processStatus else { throw Objection("process \(id) has ended or cannot be seen") }
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
        guard let after = folder.processStatus, after.startTime == status.startTime,
            after.parentID == status.parentID
        else { throw Objection("process \(id) has ended") }
    }

    // MARK: The session

    /// Whether a process starts programs for the session: the bus, its helper, or the user manager.
    ///
    /// The helper of dbus-daemon ends once the program has its name. The parent is then the user manager or, without
    /// one, the system's first process. Any program can leave a child to them; this only excludes a parent that still
    /// runs.
    private func isStarter(_ id: Int32, on bus: Bus) -> Bool {
        let buses = [bus.listener, bus.daemon].compactMap(\.self)
        if id == 1 || buses.contains(id) || isUserManager(id) { return true }
        // dbus-daemon forks, and its child starts the program.
        let folder = ProcessFolder(id, in: root)
        guard let status = folder.processStatus, buses.contains(status.parentID),
            let program = ProgramFile(of: folder)
        else { return false }
        return program == ProgramFile(of: ProcessFolder(status.parentID, in: root))
    }

    /// Whether a process is the user's systemd instance.
    ///
    /// Its program file may be hidden, as it has a capability that this process lacks. But only the system instance can
    /// start its own child in that control group; programs of the user are children of the user instance.
    private func isUserManager(_ id: Int32) -> Bool {
        let folder = ProcessFolder(id, in: root)
        guard let status = folder.processStatus, status.parentID == 1,
            let credentials = ProcessCredentials(folder), credentials.userIDs == [userID],
            let groups = folder.read("cgroup", limit: PrompterExamination.longestFile)
        else { return false }
        if let program = ProgramFile(of: folder), program.place != .present || !program.isProtected { return false }
        let group = "/user@\(userID).service/init.scope"
        return String(decoding: groups, as: UTF8.self).split(separator: "\n").contains { line in
            (line.hasPrefix("0::") || line.contains(":name=systemd:")) && line.hasSuffix(group)
        }
    }

    /// Whether a program is the one in the system's service file for the bus name, or a desktop shell, which needs no
    /// such file.
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
    /// In bytes.
    private static let longestFile = 16 << 10
}

/// Examines the environment in which a prompter was started.
enum PrompterEnvironment {
    /// The reason why the program may run foreign code, or show its dialog on no screen.
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

    /// Variables that make programs load code, besides those of the dynamic loader.
    private static let codeNames: Set<String> = [
        "GBM_BACKENDS_PATH", "GCONV_PATH", "GDK_PIXBUF_MODULEDIR", "GDK_PIXBUF_MODULE_FILE", "GIO_EXTRA_MODULES",
        "GIO_MODULE_DIR", "GI_TYPELIB_PATH", "GJS_PATH", "GTK3_MODULES", "GTK_DATA_PREFIX", "GTK_EXE_PREFIX",
        "GTK_IM_MODULE_FILE", "GTK_MODULES", "GTK_PATH", "LIBGL_DRIVERS_PATH", "LOCPATH", "PANGO_RC_FILE",
        "QML2_IMPORT_PATH", "QML_IMPORT_PATH", "QT_PLUGIN_PATH", "QT_QPA_GENERIC_PLUGINS",
        "QT_QPA_PLATFORM_PLUGIN_PATH", "VK_ADD_LAYER_PATH", "VK_DRIVER_FILES", "VK_ICD_FILENAMES",
        "VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "__EGL_VENDOR_LIBRARY_DIRS", "__EGL_VENDOR_LIBRARY_FILENAMES",
    ]

    /// Variables that say where windows are shown, with the values that are screens.
    private static let screens: [String: Set<String>] = [
        "GDK_BACKEND": ["*", "wayland", "x11"],
        "QT_QPA_PLATFORM": ["wayland", "xcb"],
    ]

    /// In bytes; larger than real environments.
    private static let longest = 2 << 20
}
