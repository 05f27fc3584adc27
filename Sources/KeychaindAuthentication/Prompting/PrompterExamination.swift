import Glibc
import KeychaindDesktop
import KeychaindRights

/// Examines the programs that this process starts for dialogs, and the session bus.
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

    /// - Parameters:
    ///   - root: the process folder instead of /proc.
    ///   - userID: the owner of the session.
    package init(root: String = "/proc", userID: UInt32 = getuid()) {
        self.root = root
        self.userID = userID
    }

    /// Returns the trust in the session bus, which passes on all that a prompter says.
    package func trust(in bus: Bus) -> PrompterTrust {
        judge { () throws(Objection) in try examineBus(bus) }
    }

    /// Returns the trust in a child of this process.
    package func trust(inChild id: Int32) -> PrompterTrust {
        judge { () throws(Objection) in
            try examine(id) { (process) throws(Objection) in
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
            try examine(daemon) { (process) throws(Objection) in
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
        try examine(id) { (process) throws(Objection) in
            guard process.program.name == "dbus-broker-launch", isUserManager(process.status.parentID) else {
                throw Objection("it was not started by the session")
            }
        }
    }

    /// Checks the rules for every process, then the given ones, and that the process stayed the same.
    private func examine(
        _ id: Int32,
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
        try check(Examined(status: status, program: program))
        guard let after = folder.processStatus, after.startTime == status.startTime,
            after.parentID == status.parentID
        else { throw Objection("process \(id) has ended") }
    }

    // MARK: The session

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

    private static let buses: Set<String> = ["dbus-broker", "dbus-daemon"]
    /// In bytes.
    private static let longestFile = 16 << 10
}
