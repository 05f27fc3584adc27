package import DBus
import Glibc
import Rights

/// Looks into the process behind a connection.
package struct ProcessInspector: Sendable {
    private let root: String

    /// - Parameter root: where the processes are, if not in /proc.
    package init(root: String = "/proc") {
        self.root = root
    }

    /// Finds out what can be seen.
    ///
    /// Blocks: a process in a file system of its own making decides how long. So this is for a thread that nobody waits for.
    package func inspect(_ credentials: ConnectionCredentials) -> Caller.Insight {
        UserRights.perform { look(at: credentials) }
    }

    private func look(at credentials: ConnectionCredentials) -> Caller.Insight {
        guard let processID = credentials.processID else {
            return .opaque(reason: "the bus does not tell its process")
        }
        guard processID > 0, let id = Int32(exactly: processID) else {
            return .opaque(reason: "its process is out of sight, as in another container")
        }
        guard let status = status(of: id) else {
            return .opaque(reason: "process \(id) has ended or cannot be seen")
        }
        let process = look(into: ProcessFolder(id, in: root), id, status, credentials)
        // If the id was given to another process meanwhile, some of the above may be about that one.
        guard self.status(of: id)?.startTime == status.startTime,
            credentials.processDescriptor.map(ProcessInspector.isRunning) ?? true
        else {
            return .opaque(reason: "process \(id) has ended")
        }
        return .process(process)
    }

    /// Whether a process that was looked into is still the one with its id; does not block.
    package func isSame(_ process: CallerProcess) -> Bool {
        // Everybody may read this file, unless /proc hides processes.
        let status = self.status(of: process.id) ?? UserRights.perform { self.status(of: process.id) }
        return status?.startTime == process.startTime
    }

    private func status(of id: Int32) -> ProcessStatus? {
        ProcessFolder(id, in: root).read("stat", limit: ProcessStatus.longest).flatMap(ProcessStatus.init)
    }

    /// Whether the process of a descriptor (pidfd_open(2)) has not ended: such a descriptor is readable once it has.
    private static func isRunning(_ descriptor: FileDescriptor) -> Bool {
        var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }

    // MARK: Looking

    private func look(
        into folder: ProcessFolder,
        _ id: Int32,
        _ status: ProcessStatus,
        _ credentials: ConnectionCredentials
    ) -> CallerProcess {
        let program = program(of: folder)
        let unit = folder.read("cgroup", limit: ProcessInspector.longestFile).flatMap(SystemdUnit.init(controlGroups:))
        let isInterpreter = program?.isInterpreter ?? false
        return CallerProcess(
            id: id,
            startTime: status.startTime,
            isHeldByBus: credentials.processDescriptor != nil,
            commandName: status.commandName,
            program: program,
            script: isInterpreter
                ? folder.read("cmdline", limit: ScriptClaim.longest).flatMap(ScriptClaim.find(in:)) : nil,
            unit: unit,
            sandbox: sandbox(of: folder, unit, credentials)
        )
    }

    private func sandbox(
        of folder: ProcessFolder,
        _ unit: SystemdUnit?,
        _ credentials: ConnectionCredentials
    ) -> Sandbox? {
        if let sandbox = credentials.securityLabel.flatMap(Sandbox.init(securityLabel:)) { return sandbox }
        if let info = folder.read("root/.flatpak-info", limit: ProcessInspector.longestFile) {
            return Sandbox(flatpakInfo: info)
        }
        return unit.flatMap(Sandbox.init(unit:))
    }

    private func program(of folder: ProcessFolder) -> ProgramFile? {
        guard let link = folder.link("exe"), link.hasPrefix("/") else { return nil }
        guard let file = folder.status(of: "exe") else { return nil }
        if file.st_nlink == 0 {
            let suffix = " (deleted)"
            let path = link.hasSuffix(suffix) ? String(link.dropLast(suffix.count)) : link
            return ProgramFile(path: path, place: .deleted, isProtected: false)
        }
        // The path is that in the process's own file system, where something else may have been mounted.
        guard let visible = ProcessFolder.status(at: link), visible.st_dev == file.st_dev, visible.st_ino == file.st_ino
        else { return ProgramFile(path: link, place: .foreign, isProtected: false) }
        return ProgramFile(path: link, isProtected: ProcessInspector.isProtected(link))
    }

    /// Whether a file and all folders on the way to it are root's, and nobody else may change them.
    private static func isProtected(_ path: String) -> Bool {
        var path = path[...]
        while true {
            guard let status = ProcessFolder.status(at: path.isEmpty ? "/" : String(path)), status.st_uid == 0,
                status.st_mode & (S_IWGRP | S_IWOTH) == 0 || status.st_mode & S_ISVTX != 0
            else { return false }
            guard let slash = path.lastIndex(of: "/") else { return true }
            path = path[..<slash]
        }
    }

    /// How much of another file is read, in bytes.
    private static let longestFile = 16 << 10
}
